// A serial port; registers.py says what software sees of it, and port.py what its parts do.
//
// Each part changes in one place, under `active`: while that is low nothing could change, and a
// simulation passes by a quiet port with a few tests.
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
    localparam [7:0] XON = 8'h11, XOFF = 8'h13;
    localparam [2:0] NONE = 0, EVEN = 1, ODD = 2, MARK = 3;
    // Cycles for which a port stays active after a change, and one more.
    localparam [1:0] SETTLE = 3;

    // --- settings
    reg [3:0] enable;
    reg [28:0] tuning;
    reg [7:0] format;
    reg [5:0] flow;
    reg [8:0] receive_mark, transmit_mark, stop_level, resume_level, limit;
    reg [11:0] timeout;
    wire [2:0] last_bit = {1'b1, format[1:0]};
    wire [2:0] parity = format[4:2];
    wire has_parity = parity != NONE;
    wire [1:0] parity_levels = {parity == EVEN || parity == MARK, parity == ODD || parity == MARK};
    assign loop_back = format[6];
    wire use_cts = flow[0], use_rts = flow[1], obey_xoff = flow[2], send_xoff = flow[3];
    wire assert_rts = flow[4], turn = flow[5];

    // --- accesses
    wire access = read || write;
    wire purges = write && address == A_PURGE;
    reg [1:0] settle;
    reg cts_q;
    wire cts = loop_back ? rts : cts_pin;
    wire active = !line || cts != cts_q || access || settle != 0;

    // --- receiver
    wire stopped, rx_idle, rx_rested, due, overrun, rx_busy;
    wire [RECEIVE_LOG2:0] level;
    wire [31:0] one, burst, stamp;
    wire [5:0] rx_happened, rx_counted;
    tierv_serial_receiver #(
        .DEPTH(RECEIVE_DEPTH), .LOG2(RECEIVE_LOG2), .STAMPS(STAMPS), .XON(XON), .XOFF(XOFF)
    ) receiver (
        .clk(clk), .rst(rst), .active(active), .line(line), .line_cycle(line_cycle),
        .tuning(tuning), .last_bit(last_bit), .has_parity(has_parity),
        .parity_levels(parity_levels), .timeout(timeout), .limit(limit),
        .purge(purges && write_data[0]), .obey_xoff(obey_xoff), .stopped(stopped),
        .idle(rx_idle), .rested(rx_rested), .level(level), .due(due), .overrun(overrun),
        .one(one), .burst(burst), .reads_one(read && address == A_RECEIVE),
        .reads_burst(read && address == A_RECEIVE_BURST), .taken_stamp(stamp),
        .happened(rx_happened), .counted(rx_counted), .busy(rx_busy)
    );

    // --- transmitter
    reg holds;
    wire tx_line, tx_idle, begun, tx_busy;
    wire [TRANSMIT_LOG2+1:0] tx_level;
    wire [5:0] lost;
    wire [7:0] counted;
    tierv_serial_transmitter #(
        .DEPTH(TRANSMIT_DEPTH), .LOG2(TRANSMIT_LOG2), .XON(XON), .XOFF(XOFF)
    ) transmitter (
        .clk(clk), .rst(rst), .active(active), .tuning(tuning), .last_bit(last_bit),
        .has_parity(has_parity), .parity_levels(parity_levels), .two_stop_bits(format[5]),
        .write(write && address == A_TRANSMIT), .write_data(write_data),
        .purge(purges && write_data[1]),
        .may_send(!stopped && (cts || !use_cts) && (!turn || (rx_idle && rx_rested))),
        .holds(holds && send_xoff), .line(tx_line), .idle(tx_idle), .level(tx_level),
        .begun(begun), .lost(lost), .counted_begun(counted[1]),
        .counted_lost(counted[6]), .busy(tx_busy)
    );
    assign sent = tx_line && !format[7];

    // --- counters, in the order of their registers
    assign rx_counted = {counted[7], counted[5:2], counted[0]};
    wire [31:0] counter;
    wire counters_busy;
    tierv_serial_counters #(.WIDE(WIDE), .NARROW(NARROW), .FIRST(A_COUNTERS[2:0])) counters (
        .clk(clk), .rst(rst), .active(active),
        .happened({rx_happened[5], lost != 0, rx_happened[4:1], begun, rx_happened[0]}),
        .lost(lost), .counted(counted), .access(access), .read(read && address >= A_COUNTERS),
        .asked(address[2:0]), .value(counter), .busy(counters_busy)
    );

    // --- flow control and events
    reg cts_changed;
    assign rts = use_rts ? !holds : assert_rts;
    wire idle_event = tx_idle && tx_level == 0;
    wire receive_event = level >= receive_mark || due;
    wire transmit_event = tx_level <= transmit_mark;
    assign receive_pending = receive_event && enable[0];
    assign transmit_pending = transmit_event && enable[1];
    assign irq = receive_pending || transmit_pending || (idle_event && enable[2])
        || (cts_changed && enable[3]);

    // --- reading
    always @(*) begin
        read_data = 0;
        if (read) begin
            case (address)
                A_RECEIVE: read_data = one;
                A_RECEIVE_BURST: read_data = burst;
                A_LEVEL: begin
                    read_data[RECEIVE_LOG2:0] = level;
                    if (tx_level < TRANSMIT_DEPTH) read_data[31:16] = TRANSMIT_DEPTH - tx_level;
                end
                A_STATUS: read_data = {24'b0, overrun, holds, stopped, rts, cts, line, !rx_idle,
                                       idle_event};
                A_STAMP: read_data = stamp;
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
                default: read_data = counter;
            endcase
        end
    end

    always @(posedge clk) begin
        if (active) begin
            if (access || !line || cts != cts_q || rx_busy || tx_busy || counters_busy)
                settle <= SETTLE;
            else settle <= settle - 1;
            if (level >= stop_level) holds <= 1;
            else if (level <= resume_level) holds <= 0;
            if (write && address == A_EV_PENDING && write_data[3]) cts_changed <= 0;
            if (cts != cts_q) cts_changed <= 1;
            cts_q <= cts;

            if (write) begin
                case (address)
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
                    default: ;
                endcase
            end
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
            holds <= 0;
            cts_q <= cts_pin;
            cts_changed <= 0;
        end
    end
endmodule
