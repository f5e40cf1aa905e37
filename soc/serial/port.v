// A serial port; registers.py says what software sees of it, and port.py what its parts do.
//
// Everything changes in one place, under `active`: while that is low nothing could change, and a
// simulation passes by a quiet port with one test.
module tierv_serial_port #(
    parameter RECEIVE_DEPTH = 16,
    parameter TRANSMIT_DEPTH = 16,
    // Words of the memories behind the FIFOs, log2.
    parameter RECEIVE_LOG2 = 4,
    parameter TRANSMIT_LOG2 = 4,
    parameter STAMPS = 1,
    // The speed after reset.
    parameter [28:0] TUNING = 0,
    parameter [11:0] TIMEOUT = 40,
    // Bits of the counters of characters, and of the other ones.
    parameter WIDE = 32,
    parameter NARROW = 16
) (
    input clk,
    input rst,
    // The pins, in step with the clock; `line` is without spikes.
    input line,
    input cts_pin,
    // A count of cycles, as old as `line`.
    input [31:0] line_cycle,
    // What is sent, and whether the receiver is to get it instead of the pin.
    output sent,
    output loop_back,
    output rts,
    // An access to a register by its number; what is read is valid in the same cycle, or else 0.
    input read,
    input write,
    input [4:0] address,
    input [31:0] write_data,
    output reg [31:0] read_data,
    output receive_pending,
    output transmit_pending,
    output irq
);
    localparam [4:0] A_RECEIVE = 0, A_RECEIVE_BURST = 1, A_TRANSMIT = 2, A_LEVEL = 3, A_STATUS = 4,
        A_STAMP = 5, A_EV_STATUS = 6, A_EV_PENDING = 7, A_EV_ENABLE = 8, A_TUNING = 9,
        A_FORMAT = 10, A_FLOW = 11, A_WATERMARKS = 12, A_FLOW_LEVELS = 13, A_TIMEOUT = 14,
        A_LIMIT = 15, A_PURGE = 16, A_COUNTERS = 17;
    localparam RW = RECEIVE_LOG2, TW = TRANSMIT_LOG2;
    localparam [7:0] XON = 8'h11, XOFF = 8'h13;
    // Ticks of the line low that are a break: 10.5 bits. A bit has eight.
    localparam [6:0] BREAK_TICKS = 84;
    localparam [2:0] IDLE = 0, START = 1, DATA = 2, PARITY = 3, STOP = 4;
    // The receiver's after a low stop bit; the transmitter's.
    localparam [2:0] LOW = 5, BREAK = 5;
    localparam [2:0] NONE = 0, EVEN = 1, ODD = 2, MARK = 3;
    // Cycles for which a port stays active after a change, and one more.
    localparam [1:0] SETTLE = 3;
    // Half a bit in ticks.
    localparam [2:0] HALF_BIT = 4;
    // Counters by their place in the memory, which is the end of their register's number: the bus'
    // address is too late to be added to. The first two are of characters.
    localparam [2:0] C_RECEIVED = A_COUNTERS[2:0], C_TRANSMITTED = C_RECEIVED + 1,
        C_OVERRUNS = C_RECEIVED + 2, C_FRAMING = C_RECEIVED + 3, C_PARITY = C_RECEIVED + 4,
        C_BREAKS = C_RECEIVED + 5, C_LOST = C_RECEIVED + 6, C_XOFFS = C_RECEIVED + 7;
    localparam [32:0] MOST_WIDE = (33'd1 << WIDE) - 1, MOST_NARROW = (33'd1 << NARROW) - 1;

    // --- settings
    reg [3:0] enable;
    reg [28:0] tuning;
    reg [7:0] format;
    reg [5:0] flow;
    reg [8:0] receive_mark, transmit_mark, stop_level, resume_level, limit;
    reg [11:0] timeout;
    wire [2:0] last_bit = {1'b1, format[1:0]};
    wire [2:0] parity = format[4:2];
    wire two_stop_bits = format[5];
    assign loop_back = format[6];
    wire use_cts = flow[0], use_rts = flow[1], obey_xoff = flow[2], send_xoff = flow[3];
    wire assert_rts = flow[4], turn = flow[5];

    function parity_level(input [2:0] kind, input odd_ones);
        parity_level = kind == EVEN ? odd_ones : kind == ODD ? !odd_ones : kind == MARK;
    endfunction

    // --- receiver
    reg [2:0] rx_state, rx_position, rx_count;
    reg [28:0] rx_phase;
    reg [7:0] rx_data;
    reg [6:0] low_ticks;
    reg first, differs, rx_odd, any_one, held, was_high;
    reg rx_valid, rx_break, rx_framing, rx_parity;
    reg [31:0] start_cycle, fall_cycle;
    reg line_q;
    // Until a stop bit that was decided in its middle is over.
    reg [2:0] stop_ticks;
    reg [14:0] quiet_ticks;

    // --- receive FIFO: the oldest three are in a window
    reg [11:0] characters [0:(1 << RW) - 1];
    reg [31:0] stamps [0:(1 << RW) - 1];
    reg [RW-1:0] rx_head, rx_tail, taken;
    reg [RW:0] level;
    reg [11:0] window0, window1, window2;
    reg [1:0] in_window;
    reg has_taken;
    reg [31:0] taken_stamp;
    wire one = in_window == 1 || window0[11:8] != 0 || window1[11:8] != 0;
    wire two = in_window == 2 || window2[11:8] != 0;
    wire [1:0] burst = in_window == 0 ? 2'd0 : one ? 2'd1 : two ? 2'd2 : 2'd3;

    // --- transmit FIFO, and what was written to it last
    reg [8:0] waiting [0:(1 << TW) - 1];
    reg [TW-1:0] tx_head, tx_tail;
    reg [TW:0] tx_level;
    reg [1:0] coming;
    reg [23:0] coming_data;
    reg coming_break;
    wire [TW+1:0] tx_total = tx_level + coming;

    // --- transmitter
    reg [2:0] tx_state, tx_position, tx_count;
    reg [28:0] tx_phase;
    reg [7:0] tx_rest;
    reg tx_line, tx_odd, second_stop_bit;

    // --- flow control and events
    reg due, overrun, holds, stopped, told, cts_q, cts_changed;
    assign rts = use_rts ? !holds : assert_rts;
    wire cts = loop_back ? rts : cts_pin;
    assign sent = tx_line && !format[7];
    wire idle_event = tx_state == IDLE && tx_level == 0 && coming == 0;
    wire receive_event = level >= receive_mark || due;
    wire transmit_event = tx_total <= transmit_mark;
    assign receive_pending = receive_event && enable[0];
    assign transmit_pending = transmit_event && enable[1];
    assign irq = receive_pending || transmit_pending || (idle_event && enable[2])
        || (cts_changed && enable[3]);

    // --- counters: events wait for the one port of the memory
    reg [31:0] counters [0:7];
    reg [7:0] events;
    reg [2:0] lost;
    // The counter whose turn it is; all are made 0 after a reset.
    reg [2:0] picked;
    reg has_picked, cleared;
    wire access = read || write;
    wire is_counter = address >= A_COUNTERS;
    wire [2:0] asked = address[2:0];
    wire is_wide = picked == C_RECEIVED || picked == C_TRANSMITTED;
    wire [2:0] counter = access ? asked : picked;
    // Not that of the bus, for the same reason; synthesis would share the memory's port between both.
    (* keep *) wire [31:0] count = counters[picked];

    // --- reading
    always @(*) begin
        read_data = 0;
        if (read) begin
            case (address)
                A_RECEIVE: read_data = {2'b0, in_window != 0 ? window0[11:8] : 4'b0, 1'b0,
                                        in_window != 0, 16'b0, window0[7:0]};
                A_RECEIVE_BURST: read_data = {2'b0, in_window != 0 ? window0[11:8] : 4'b0, burst,
                                              window2[7:0], window1[7:0], window0[7:0]};
                A_LEVEL: begin
                    read_data[RW:0] = level;
                    if (tx_total < TRANSMIT_DEPTH)
                        read_data[31:16] = TRANSMIT_DEPTH - tx_total;
                end
                A_STATUS: read_data = {24'b0, overrun, holds, stopped, rts, cts, line,
                                       rx_state != IDLE, idle_event};
                A_STAMP: read_data = STAMPS != 0 ? taken_stamp : 0;
                A_EV_STATUS: read_data = {29'b0, idle_event, transmit_event, receive_event};
                A_EV_PENDING: read_data = {28'b0, cts_changed, idle_event, transmit_event,
                                           receive_event};
                A_EV_ENABLE: read_data = {28'b0, enable};
                A_TUNING: read_data = {3'b0, tuning};
                A_FORMAT: read_data = {24'b0, format};
                A_FLOW: read_data = {26'b0, flow};
                A_WATERMARKS: read_data = {7'b0, transmit_mark, 7'b0, receive_mark};
                A_FLOW_LEVELS: read_data = {7'b0, resume_level, 7'b0, stop_level};
                A_TIMEOUT: read_data = {20'b0, timeout};
                A_LIMIT: read_data = {23'b0, limit};
                A_TRANSMIT, A_PURGE: ;
                default: if (cleared) read_data = counters[asked];
            endcase
        end
    end

    // --- what changes
    reg [1:0] settle;
    wire active = !line || cts != cts_q || access || settle != 0;

    // Of this cycle. A simulation is fast if nothing is read behind the first statement that gives it
    // its next value; so these come first.
    reg [29:0] rx_total, tx_total_phase;
    reg [2:0] rx_was, tx_was;
    reg rx_idle, rx_tick, restarts, decided, differ, any_one_now, odd_now, timed_out;
    reg clean, is_flow, stores, store, moves, wants, waits, from_fifo, ready, puts, bit_ends, last;
    reg counts_lost, writes_count;
    reg [1:0] take, stay;
    reg [14:0] end_ticks;
    reg [11:0] oldest, entry;
    reg [8:0] next;
    reg [7:0] rest;
    reg [32:0] more;

    always @(posedge clk) begin
        if (active) begin
            rx_total = rx_phase + tuning;
            rx_tick = rx_total[29];
            rx_was = rx_state;
            rx_idle = rx_was == IDLE;
            restarts = rx_idle && !line;
            end_ticks = {timeout, 3'b0};
            timed_out = rx_tick && end_ticks != 0 && quiet_ticks + 15'd1 == end_ticks;
            tx_total_phase = tx_phase + tuning;
            tx_was = tx_state;
            bit_ends = tx_was != IDLE && tx_total_phase[29] && tx_position == 7;
            wants = holds && send_xoff;
            waits = wants != told;
            from_fifo = tx_level != 0 && !waits && !stopped && (cts || !use_cts)
                && (!turn || (rx_idle && stop_ticks == 0));
            ready = (from_fifo || waits)
                && (tx_was == IDLE || (tx_was == STOP && !second_stop_bit && bit_ends));
            puts = coming != 0 && tx_level < TRANSMIT_DEPTH;
            if (access || !line || !rx_idle || rx_valid || low_ticks != 0 || !was_high
                || stop_ticks != 0 || cts != cts_q || (level != 0 && !due && timeout != 0)
                || level > in_window || tx_was != IDLE || tx_level != 0 || coming != 0 || waits
                || events != 0 || !cleared)
                settle <= SETTLE;
            else settle <= settle - 1;

            // The counters. One that is read begins anew.
            counts_lost = 0;
            if (access || has_picked || !cleared) begin
                writes_count = !access || (read && is_counter);
                more = 0;
                if (has_picked && !access) begin
                    counts_lost = picked == C_LOST;
                    more = count + (counts_lost ? lost : 3'd1);
                    if (is_wide ? more[WIDE] : more[NARROW])
                        more = is_wide ? MOST_WIDE : MOST_NARROW;
                    has_picked <= 0;
                    events[picked] <= 0;
                end else if (!access) begin
                    cleared <= picked == 7;
                    picked <= picked + 1;
                end
                if (writes_count) counters[counter] <= more[31:0];
            end else if (events != 0) begin
                has_picked <= 1;
                picked <= events[0] ? 3'd0 : events[1] ? 3'd1 : events[2] ? 3'd2 : events[3] ? 3'd3
                    : events[4] ? 3'd4 : events[5] ? 3'd5 : events[6] ? 3'd6 : 3'd7;
            end
            if (counts_lost || (coming != 0 && !puts)) begin
                lost <= (counts_lost ? 3'd0 : lost) + (coming != 0 && !puts);
                if (coming != 0 && !puts) events[C_LOST] <= 1;
            end

            // What was received, to flow control or to the FIFO.
            entry = {overrun, rx_parity, rx_framing, rx_break, rx_data};
            clean = entry[10:8] == 0;
            is_flow = 0;
            stores = 0;
            store = 0;
            if (rx_valid) begin
                is_flow = clean && obey_xoff && (rx_data == XOFF || rx_data == XON);
                stores = !is_flow;
                store = stores && level < limit && level < RECEIVE_DEPTH;
                if (store) begin
                    characters[rx_head] <= entry;
                    stamps[rx_head] <= rx_break ? fall_cycle : start_cycle;
                end
                if (store && !rx_break) events[C_RECEIVED] <= 1;
                if (stores && !store) events[C_OVERRUNS] <= 1;
                if (rx_framing) events[C_FRAMING] <= 1;
                if (rx_parity) events[C_PARITY] <= 1;
                if (rx_break) events[C_BREAKS] <= 1;
                if (is_flow && rx_data == XOFF) events[C_XOFFS] <= 1;
            end
            if (!obey_xoff) stopped <= 0;
            else if (is_flow) stopped <= rx_data == XOFF;
            take = !read ? 2'd0 : address == A_RECEIVE_BURST ? burst
                : address == A_RECEIVE ? {1'b0, in_window != 0} : 2'd0;
            stay = in_window - take;
            moves = stay != 3 && (store || level > in_window);
            // What is in the FIFO can't wait for the watermark.
            if (level == 0 && !stores) due <= 0;
            else if ((stores && (!clean || overrun)) || timed_out) due <= 1;
            if (level >= stop_level) holds <= 1;
            else if (level <= resume_level) holds <= 0;
            if (has_taken) taken_stamp <= stamps[taken];
            has_taken <= take != 0;
            if (take != 0) begin
                taken <= taken + take;
                window0 <= take == 1 ? window1 : window2;
                window1 <= window2;
            end
            if (moves) begin
                oldest = level > in_window ? characters[rx_tail] : entry;
                if (stay == 0) window0 <= oldest;
                if (stay == 1) window1 <= oldest;
                if (stay == 2) window2 <= oldest;
                rx_tail <= rx_tail + 1;
            end
            in_window <= stay + moves;
            level <= level + store - take;
            if (store) rx_head <= rx_head + 1;
            if (stores) overrun <= !store;

            // The receiver: a bit is what two of three looks at the line say.
            if (line_q && !line) fall_cycle <= line_cycle;
            line_q <= line;
            if (rx_idle) begin
                if (rx_tick && quiet_ticks != end_ticks) quiet_ticks <= quiet_ticks + 1;
                if (rx_tick && stop_ticks != 0) stop_ticks <= stop_ticks - 1;
            end else begin
                quiet_ticks <= 0;
                stop_ticks <= HALF_BIT;
            end
            rx_phase <= restarts ? 29'b0 : rx_total[28:0];
            rx_valid <= 0;
            if (rx_tick) begin
                if (rx_was == LOW && line && was_high) begin
                    rx_state <= IDLE;
                    rx_valid <= held;
                    held <= 0;
                end
                if (!rx_idle) begin
                    differ = line != first;
                    decided = (rx_position == 3 && !differ) || (rx_position == 4 && differs);
                    if (rx_position == 3) differs <= differ;
                    if (rx_position == 2) first <= line;
                    rx_position <= rx_position + 1;
                    if (decided) begin
                        any_one_now = any_one || line;
                        odd_now = rx_odd;
                        last = rx_count == last_bit;
                        case (rx_was)
                            START: rx_state <= line ? IDLE : DATA;
                            DATA: begin
                                rx_data <= {line && last_bit == 7, rx_data[7:1]};
                                if (last_bit == 6) rx_data[6] <= line;
                                if (last_bit == 5) rx_data[5] <= line;
                                if (last_bit == 4) rx_data[4] <= line;
                                any_one <= any_one_now;
                                rx_odd <= odd_now ^ line;
                                rx_count <= rx_count + 1;
                                if (last) rx_state <= parity == NONE ? STOP : PARITY;
                            end
                            PARITY: begin
                                any_one <= any_one_now;
                                rx_parity <= line != parity_level(parity, odd_now);
                                rx_state <= STOP;
                            end
                            STOP: begin
                                rx_framing <= !line;
                                held <= !any_one_now;
                                rx_valid <= any_one_now;
                                rx_state <= line ? IDLE : LOW;
                            end
                            default: ;
                        endcase
                    end
                end
                if (!line && low_ticks == BREAK_TICKS - 1) begin
                    rx_valid <= 1;
                    rx_data <= 0;
                    rx_break <= 1;
                    rx_framing <= 0;
                    rx_parity <= 0;
                    held <= 0;
                end
                if (!line && low_ticks != BREAK_TICKS) low_ticks <= low_ticks + 1;
                if (line && was_high) low_ticks <= 0;
                was_high <= line;
            end
            if (restarts) begin
                rx_state <= START;
                rx_position <= 0;
                rx_count <= 0;
                rx_data <= 0;
                rx_odd <= 0;
                any_one <= 0;
                // Or a break could be recognised before its stop bit, and given again after it.
                low_ticks <= 0;
                rx_break <= 0;
                rx_parity <= 0;
                start_cycle <= line_cycle;
            end

            // To the transmit FIFO.
            if (puts) begin
                waiting[tx_head] <= {coming_break, coming_data[7:0]};
                tx_head <= tx_head + 1;
            end
            if (coming != 0) begin
                coming_data <= coming_data >> 8;
                coming <= coming - 1;
            end
            tx_level <= tx_level + puts - (ready && !waits);

            // The transmitter.
            tx_phase <= tx_was == IDLE ? 29'b0 : tx_total_phase[28:0];
            if (tx_was != IDLE && tx_total_phase[29]) tx_position <= tx_position + 1;
            if (bit_ends) begin
                rest = tx_rest;
                odd_now = tx_odd;
                last = tx_count == last_bit;
                if (tx_was == STOP) begin
                    if (!second_stop_bit) tx_state <= IDLE;
                    second_stop_bit <= 0;
                end else if (tx_was == START || (tx_was == DATA && !last)) begin
                    if (tx_was == DATA) tx_count <= tx_count + 1;
                    tx_state <= DATA;
                    tx_line <= rest[0];
                    tx_odd <= odd_now ^ rest[0];
                    tx_rest <= rest >> 1;
                end else if (tx_was == DATA && parity != NONE) begin
                    tx_state <= PARITY;
                    tx_line <= parity_level(parity, odd_now);
                end else if (tx_was == BREAK && rest != 1) begin
                    tx_rest <= rest - 1;
                end else begin
                    tx_state <= STOP;
                    tx_line <= 1;
                    second_stop_bit <= two_stop_bits;
                end
            end
            if (ready) begin
                next = waits ? {1'b0, wants ? XOFF : XON} : waiting[tx_tail];
                tx_state <= next[8] ? BREAK : START;
                tx_position <= 0;
                tx_count <= 0;
                tx_line <= 0;
                tx_odd <= 0;
                tx_rest <= next[7:0];
                if (!next[8]) events[C_TRANSMITTED] <= 1;
                if (waits) told <= wants;
                else tx_tail <= tx_tail + 1;
            end

            // What software writes.
            if (write && address == A_EV_PENDING && write_data[3]) cts_changed <= 0;
            if (cts != cts_q) cts_changed <= 1;
            cts_q <= cts;
            if (write) begin
                case (address)
                    A_TRANSMIT: begin
                        coming <= write_data[25:24] + 1;
                        coming_data <= write_data[23:0];
                        coming_break <= write_data[31];
                    end
                    A_EV_ENABLE: enable <= write_data[3:0];
                    A_TUNING: tuning <= write_data[28:0];
                    A_FORMAT: format <= write_data[7:0];
                    A_FLOW: flow <= write_data[5:0];
                    A_WATERMARKS: begin
                        receive_mark <= write_data[8:0];
                        transmit_mark <= write_data[24:16];
                    end
                    A_FLOW_LEVELS: begin
                        stop_level <= write_data[8:0];
                        resume_level <= write_data[24:16];
                    end
                    A_TIMEOUT: timeout <= write_data[11:0];
                    A_LIMIT: limit <= write_data[8:0];
                    A_PURGE: begin
                        if (write_data[0]) begin
                            level <= 0;
                            in_window <= 0;
                            rx_head <= 0;
                            rx_tail <= 0;
                            taken <= -1;
                            overrun <= 0;
                        end
                        if (write_data[1]) begin
                            tx_level <= 0;
                            tx_head <= 0;
                            tx_tail <= 0;
                            coming <= 0;
                        end
                    end
                    default: ;
                endcase
            end

            if (access || !line || !rx_idle || rx_valid || low_ticks != 0 || !was_high || stop_ticks != 0
                || cts != cts_q || (level != 0 && !due && timeout != 0)
                || level > in_window || tx_state != IDLE || tx_level != 0 || coming != 0 || waits
                || events != 0 || !cleared)
                settle <= SETTLE;
            else settle <= settle - 1;
        end
        if (rst) begin
            settle <= SETTLE;
            enable <= 0;
            tuning <= TUNING;
            format <= 3;
            flow <= 6'h10;
            receive_mark <= RECEIVE_DEPTH > 1 ? RECEIVE_DEPTH / 2 : 1;
            transmit_mark <= TRANSMIT_DEPTH / 2;
            stop_level <= RECEIVE_DEPTH > 1 ? RECEIVE_DEPTH * 3 / 4 : 1;
            resume_level <= RECEIVE_DEPTH / 4;
            limit <= RECEIVE_DEPTH;
            timeout <= TIMEOUT;
            rx_state <= IDLE;
            rx_valid <= 0;
            rx_phase <= 0;
            low_ticks <= 0;
            was_high <= 1;
            held <= 0;
            line_q <= 1;
            stop_ticks <= 0;
            quiet_ticks <= 0;
            level <= 0;
            in_window <= 0;
            rx_head <= 0;
            rx_tail <= 0;
            taken <= -1;
            has_taken <= 0;
            taken_stamp <= 0;
            tx_state <= IDLE;
            tx_line <= 1;
            tx_head <= 0;
            tx_tail <= 0;
            tx_level <= 0;
            coming <= 0;
            due <= 0;
            overrun <= 0;
            holds <= 0;
            stopped <= 0;
            told <= 0;
            cts_q <= 0;
            cts_changed <= 0;
            events <= 0;
            lost <= 0;
            picked <= 0;
            has_picked <= 0;
            cleared <= 0;
        end
    end
endmodule
