// The receiver of a serial port with its FIFO: characters and breaks from the line. The oldest three
// are in a window, so that a burst of them can be read at once.
module tierv_serial_receiver #(
    parameter DEPTH = 16,
    // Words of the memory behind the FIFO, log2.
    parameter LOG2 = 4,
    parameter STAMPS = 1,
    parameter [7:0] XON = 0,
    parameter [7:0] XOFF = 0
) (
    input clk,
    input rst,
    // Nothing changes while this is low.
    input active,
    input line,
    input [31:0] line_cycle,
    input [28:0] tuning,
    // The number of the last data bit; whether a parity bit follows, and its level if an even and if
    // an odd number of data bits is high.
    input [2:0] last_bit,
    input has_parity,
    input [1:0] parity_levels,
    // In bit times.
    input [11:0] timeout,
    // Characters that the FIFO takes.
    input [8:0] limit,
    input purge,
    // XON and XOFF are taken out, and say whether the transmitter is stopped.
    input obey_xoff,
    output reg stopped,
    // Nothing is being received; and the last stop bit, which was decided in its middle, is over.
    output idle,
    output rested,
    // Characters in the FIFO; they can't wait for the watermark; some were lost behind them.
    output reg [LOG2:0] level,
    output reg due,
    output reg overrun,
    // What the registers receive and receive_burst read as, and that they are read.
    output [31:0] one,
    output [31:0] burst,
    input reads_one,
    input reads_burst,
    // When the character most recently taken began.
    output reg [31:0] taken_stamp,
    // Until it was counted: a character was stored, one was lost, a low stop bit, a wrong parity bit, a
    // break, an XOFF.
    output reg [5:0] happened,
    input [5:0] counted,
    // Something may change though the line is high.
    output busy
);
    localparam [2:0] IDLE = 0, START = 1, DATA = 2, PARITY = 3, STOP = 4, LOW = 5;
    // Ticks of the line low that are a break: 10.5 bits. A bit has eight.
    localparam [6:0] BREAK_TICKS = 84;
    localparam [2:0] HALF_BIT_TICKS = 4;

    // --- the line
    reg [2:0] state, position, count;
    reg [28:0] phase;
    reg [6:0] low_ticks;
    reg first, differs, odd, any_one, held, was_high, line_q;
    reg [31:0] start_cycle, fall_cycle;
    reg [2:0] stop_ticks;
    reg [14:0] quiet_ticks;
    // A character or a break, for one cycle.
    reg valid, is_break, framing, wrong_parity;
    reg [7:0] data;

    // --- the FIFO; a character is below its flags: overrun, parity, framing, break
    reg [11:0] characters [0:(1 << LOG2) - 1];
    reg [31:0] stamps [0:(1 << LOG2) - 1];
    reg [LOG2-1:0] head, tail, taken;
    reg [11:0] window0, window1, window2;
    reg [1:0] in_window;
    reg has_taken;

    wire any = in_window != 0;
    wire [3:0] flags = any ? window0[11:8] : 4'b0;
    wire only_one = in_window == 1 || window0[11:8] != 0 || window1[11:8] != 0;
    wire only_two = in_window == 2 || window2[11:8] != 0;
    wire [1:0] burst_count = !any ? 2'd0 : only_one ? 2'd1 : only_two ? 2'd2 : 2'd3;
    assign one = {2'b0, flags, 1'b0, any, 16'b0, window0[7:0]};
    assign burst = {2'b0, flags, burst_count, window2[7:0], window1[7:0], window0[7:0]};
    assign idle = state == IDLE;
    assign rested = stop_ticks == 0;
    assign busy = !idle || valid || low_ticks != 0 || !was_high || !rested
        || (level != 0 && !due && timeout != 0) || level > in_window;

    // Of this cycle. A simulation is fast if nothing is read behind the first statement that gives it
    // its next value; so these come first.
    reg [29:0] next_phase;
    reg [14:0] end_ticks;
    reg [2:0] was;
    reg tick, restarts, differ, decided, any_one_now, odd_now, timed_out;
    reg is_flow, comes, stored, moves;
    reg [1:0] take, stay;
    reg [11:0] entry, oldest;

    always @(posedge clk) begin
        if (active) begin
            next_phase = phase + tuning;
            tick = next_phase[29];
            end_ticks = {timeout, 3'b0};
            timed_out = tick && end_ticks != 0 && quiet_ticks + 15'd1 >= end_ticks;
            was = state;
            restarts = was == IDLE && !line;
            differ = line != first;
            decided = (position == 3 && !differ) || (position == 4 && differs);
            any_one_now = any_one || line;
            odd_now = odd;
            entry = {overrun, wrong_parity, framing, is_break, data};
            is_flow = 0;
            comes = 0;
            stored = 0;
            // An overrun is of characters before this one.
            if (valid) begin
                is_flow = entry[10:8] == 0 && obey_xoff && (data == XOFF || data == XON);
                comes = !is_flow;
                stored = comes && level < limit && level < DEPTH;
            end
            take = reads_burst ? burst_count : {1'b0, reads_one && any};
            stay = in_window - take;
            moves = stay != 3 && (stored || level > in_window);

            // What has come, to the transmitter or to the FIFO.
            if (!obey_xoff) stopped <= 0;
            else if (is_flow) stopped <= data == XOFF;
            if (purge || (level == take && !comes)) due <= 0;
            else if ((comes && entry[11:8] != 0) || timed_out) due <= 1;
            if (stored) begin
                characters[head] <= entry;
                stamps[head] <= is_break ? fall_cycle : start_cycle;
                head <= head + 1;
            end
            if (counted != 0) happened <= happened & ~counted;
            if (valid) begin
                if (comes) overrun <= !stored;
                if (stored && !is_break) happened[0] <= 1;
                if (comes && !stored) happened[1] <= 1;
                if (framing) happened[2] <= 1;
                if (wrong_parity) happened[3] <= 1;
                if (is_break) happened[4] <= 1;
                if (is_flow && data == XOFF) happened[5] <= 1;
            end

            // Out of the FIFO.
            if (has_taken) taken_stamp <= STAMPS != 0 ? stamps[taken] : 0;
            has_taken <= take != 0;
            if (take != 0) begin
                taken <= taken + take;
                window0 <= take == 1 ? window1 : window2;
                window1 <= window2;
            end
            if (moves) begin
                oldest = level > in_window ? characters[tail] : entry;
                if (stay == 0) window0 <= oldest;
                if (stay == 1) window1 <= oldest;
                if (stay == 2) window2 <= oldest;
                tail <= tail + 1;
            end
            in_window <= stay + moves;
            level <= level + stored - take;
            if (purge) begin
                level <= 0;
                in_window <= 0;
                head <= 0;
                tail <= 0;
                taken <= -1;
                overrun <= 0;
            end

            // From the line: a bit is what two of three looks at it say.
            // Within a low level a look that says otherwise is none.
            if (line_q && !line && (low_ticks == 0 || was == IDLE)) fall_cycle <= line_cycle;
            line_q <= line;
            if (was == IDLE) begin
                if (tick && quiet_ticks < end_ticks) quiet_ticks <= quiet_ticks + 1;
                if (tick && stop_ticks != 0) stop_ticks <= stop_ticks - 1;
            end else if (was != START) begin
                // What has begun may turn out to be none.
                quiet_ticks <= 0;
                stop_ticks <= HALF_BIT_TICKS;
            end
            phase <= restarts ? 29'b0 : next_phase[28:0];
            valid <= 0;
            if (tick) begin
                if (was == LOW && line && was_high) begin
                    state <= IDLE;
                    valid <= held;
                    held <= 0;
                end
                if (was != IDLE) begin
                    if (position == 3) differs <= differ;
                    if (position == 2) first <= line;
                    position <= position + 1;
                end
                if (was != IDLE && decided) begin
                    case (was)
                        START: state <= line ? IDLE : DATA;
                        DATA: begin
                            data <= {line && last_bit == 7, data[7:1]};
                            if (last_bit == 6) data[6] <= line;
                            if (last_bit == 5) data[5] <= line;
                            if (last_bit == 4) data[4] <= line;
                            any_one <= any_one_now;
                            odd <= odd_now ^ line;
                            if (count >= last_bit) state <= has_parity ? PARITY : STOP;
                            count <= count + 1;
                        end
                        PARITY: begin
                            any_one <= any_one_now;
                            wrong_parity <= line != parity_levels[odd_now];
                            state <= STOP;
                        end
                        STOP: begin
                            framing <= !line;
                            held <= !any_one_now;
                            valid <= any_one_now;
                            state <= line ? IDLE : LOW;
                        end
                        default: ;
                    endcase
                end
                if (!line && low_ticks == BREAK_TICKS - 1) begin
                    valid <= 1;
                    data <= 0;
                    is_break <= 1;
                    framing <= 0;
                    wrong_parity <= 0;
                    held <= 0;
                end
                if (!line && low_ticks != BREAK_TICKS) low_ticks <= low_ticks + 1;
                if (line && was_high) low_ticks <= 0;
                was_high <= line;
            end
            if (restarts) begin
                state <= START;
                position <= 0;
                count <= 0;
                data <= 0;
                odd <= 0;
                any_one <= 0;
                // Or a break could be recognised before its stop bit, and given again after it.
                low_ticks <= 0;
                is_break <= 0;
                wrong_parity <= 0;
                start_cycle <= line_cycle;
            end
        end
        if (rst) begin
            state <= IDLE;
            valid <= 0;
            phase <= 0;
            low_ticks <= 0;
            was_high <= 1;
            held <= 0;
            line_q <= 1;
            stop_ticks <= 0;
            quiet_ticks <= 0;
            stopped <= 0;
            due <= 0;
            happened <= 0;
            level <= 0;
            in_window <= 0;
            head <= 0;
            tail <= 0;
            taken <= -1;
            has_taken <= 0;
            taken_stamp <= 0;
            overrun <= 0;
        end
    end
endmodule
