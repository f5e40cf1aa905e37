// The counters of a serial port: a memory with one port, for which what happened waits.
module tierv_serial_counters #(
    // Bits of the counters of characters, and of the other ones.
    parameter WIDE = 32,
    parameter NARROW = 16,
    // The place of the first one in the memory, which is the end of its register's number: the bus's
    // address is too late to be added to.
    parameter [2:0] FIRST = 0
) (
    input clk,
    input rst,
    // Nothing changes while this is low.
    input active,
    // What is to be counted, in the order of the registers; it is counted in this cycle. How many were
    // lost since that was counted.
    input [7:0] happened,
    output [7:0] counted,
    input [5:0] lost,
    // The bus accesses some register of the port: the memory's port is the bus's in this cycle. It
    // reads the counter in the place `asked`, which begins anew.
    input access,
    input read,
    input [2:0] asked,
    output [31:0] value,
    output busy
);
    localparam [2:0] RECEIVED = FIRST, TRANSMITTED = FIRST + 1, LOST = FIRST + 6;
    localparam [32:0] MOST_WIDE = (33'd1 << WIDE) - 1, MOST_NARROW = (33'd1 << NARROW) - 1;

    reg [31:0] memory [0:7];
    // The counter whose turn it is; all are made 0 after a reset.
    reg [2:0] picked;
    reg has_picked, cleared;

    wire counts = has_picked && !access;
    wire [7:0] counts_now = counts << picked;
    wire is_wide = picked == RECEIVED || picked == TRANSMITTED;
    wire [2:0] counter = access ? asked : picked;
    // Not that of the bus, whose address is late; synthesis would share the memory's port between both.
    (* keep *) wire [31:0] count = memory[picked];
    assign counted = {counts_now, counts_now} >> FIRST;
    assign value = cleared ? memory[asked] : 0;
    assign busy = happened != 0 || !cleared;

    // Of this cycle; first, for the sake of simulations.
    reg [32:0] more;
    reg [7:0] waiting;

    always @(posedge clk) begin
        if (active) begin
            if (access || has_picked || !cleared) begin
                more = 0;
                if (counts) begin
                    more = count + (picked == LOST ? lost : 6'd1);
                    if (is_wide ? more[WIDE] : more[NARROW])
                        more = is_wide ? MOST_WIDE : MOST_NARROW;
                    has_picked <= 0;
                end else if (!access) begin
                    cleared <= picked == 7;
                    picked <= picked + 1;
                end
                if (!access || read) memory[counter] <= more[31:0];
            end else if (happened != 0) begin
                waiting = {happened, happened} >> (8 - FIRST);
                has_picked <= 1;
                picked <= waiting[0] ? 3'd0 : waiting[1] ? 3'd1 : waiting[2] ? 3'd2
                    : waiting[3] ? 3'd3 : waiting[4] ? 3'd4 : waiting[5] ? 3'd5
                    : waiting[6] ? 3'd6 : 3'd7;
            end
        end
        if (rst) begin
            picked <= 0;
            has_picked <= 0;
            cleared <= 0;
        end
    end
endmodule
