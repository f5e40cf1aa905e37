// The transmitter of a serial port with its FIFO: characters and breaks onto the line, and XON and
// XOFF, which do not wait for what is in the FIFO.
module tierv_serial_transmitter #(
    parameter DEPTH = 16,
    // Words of the memory behind the FIFO, log2.
    parameter LOG2 = 4,
    parameter [7:0] XON = 0,
    parameter [7:0] XOFF = 0
) (
    input clk,
    input rst,
    // Nothing changes while this is low.
    input active,
    input [28:0] tuning,
    // The number of the last data bit; whether a parity bit follows, and its level if an even and if
    // an odd number of data bits is high.
    input [2:0] last_bit,
    input has_parity,
    input [1:0] parity_levels,
    input two_stop_bits,
    // A write of the register transmit; what it says enters the FIFO, one after the other.
    input write,
    input [31:0] write_data,
    input purge,
    // What is in the FIFO may be sent.
    input may_send,
    // The peer is to be held back: an XOFF is sent when this rises, an XON when it falls.
    input holds,
    output reg line,
    // Nothing is being sent, and the last stop bit is over.
    output idle,
    // What waits, with what is about to enter.
    output [LOG2+1:0] level,
    // Until it was counted: a character was begun; so many have found the FIFO full, or were about to
    // enter it when the register was written once more: fewer than 64 in the 32 cycles that all
    // counters take in which accesses leave one of two.
    output reg begun,
    output reg [5:0] lost,
    input counted_begun,
    input counted_lost,
    output busy
);
    localparam [2:0] IDLE = 0, START = 1, DATA = 2, PARITY = 3, STOP = 4, BREAK = 5;

    reg [8:0] fifo [0:(1 << LOG2) - 1];
    reg [LOG2-1:0] head, tail;
    reg [LOG2:0] waiting;
    reg [1:0] coming;
    reg [23:0] coming_data;
    reg coming_break;
    // What the peer was told last.
    reg told;
    reg [2:0] state, position, count;
    reg [28:0] phase;
    reg [7:0] rest;
    reg odd, second_stop_bit;

    assign idle = state == IDLE;
    assign level = waiting + coming;
    assign busy = !idle || waiting != 0 || coming != 0 || holds != told;

    // Of this cycle; first, for the sake of simulations.
    reg [29:0] next_phase;
    reg [2:0] was;
    reg [7:0] rest_now;
    reg bit_ends, ready, tells, takes, enters, odd_now, last;
    reg [1:0] loses;
    reg [8:0] next;

    always @(posedge clk) begin
        if (active) begin
            next_phase = phase + tuning;
            was = state;
            bit_ends = was != IDLE && next_phase[29] && position == 7;
            ready = was == IDLE || (was == STOP && !second_stop_bit && bit_ends);
            tells = ready && holds != told;
            takes = ready && holds == told && waiting != 0 && may_send;
            enters = coming != 0 && waiting < DEPTH;
            loses = (coming != 0 && !enters) + (write && coming > 1 ? coming - 2'd1 : 2'd0);
            rest_now = rest;
            odd_now = odd;
            last = count >= last_bit;

            phase <= was == IDLE ? 29'b0 : next_phase[28:0];
            if (was != IDLE && next_phase[29]) position <= position + 1;
            if (bit_ends) begin
                if (was == STOP) begin
                    if (!second_stop_bit) state <= IDLE;
                    second_stop_bit <= 0;
                end else if (was == START || (was == DATA && !last)) begin
                    if (was == DATA) count <= count + 1;
                    state <= DATA;
                    line <= rest_now[0];
                    odd <= odd_now ^ rest_now[0];
                    rest <= rest_now >> 1;
                end else if (was == DATA && has_parity) begin
                    state <= PARITY;
                    line <= parity_levels[odd_now];
                end else if (was == BREAK && rest_now != 1) begin
                    rest <= rest_now - 1;
                end else begin
                    state <= STOP;
                    line <= 1;
                    second_stop_bit <= two_stop_bits;
                end
            end
            if (counted_begun) begun <= 0;
            if (tells || takes) begin
                next = tells ? {1'b0, holds ? XOFF : XON} : fifo[tail];
                state <= next[8] ? BREAK : START;
                position <= 0;
                count <= 0;
                line <= 0;
                odd <= 0;
                rest <= next[7:0];
                if (!next[8]) begun <= 1;
            end
            if (tells) told <= holds;

            if (takes) tail <= tail + 1;
            if (enters) begin
                fifo[head] <= {coming_break, coming_data[7:0]};
                head <= head + 1;
            end
            if (counted_lost || loses != 0) lost <= (counted_lost ? 6'd0 : lost) + loses;
            waiting <= waiting + enters - takes;
            if (coming != 0) begin
                coming_data <= coming_data >> 8;
                coming <= coming - 1;
            end
            if (write) begin
                coming <= write_data[25:24] + 1;
                coming_data <= write_data[23:0];
                coming_break <= write_data[31];
            end
            if (purge) begin
                waiting <= 0;
                head <= 0;
                tail <= 0;
                coming <= 0;
            end
        end
        if (rst) begin
            head <= 0;
            tail <= 0;
            waiting <= 0;
            coming <= 0;
            told <= 0;
            state <= IDLE;
            line <= 1;
            begun <= 0;
            lost <= 0;
        end
    end
endmodule
