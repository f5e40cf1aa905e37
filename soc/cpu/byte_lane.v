// One byte of every word of a column, with two ports. It is written the way in which the synthesis
// tools of all vendors recognise a true dual-port block RAM: no byte enables, and a port that writes
// reads what it writes.
module tierv_byte_lane #(
    parameter ADDRESS_BITS = 10,
    parameter DEPTH = 1 << ADDRESS_BITS,
    parameter CONTENT = ""
) (
    input clk,
    input local_write,
    input [ADDRESS_BITS-1:0] local_address,
    input [7:0] local_data,
    output reg [7:0] local_read,
    input bus_write,
    input [ADDRESS_BITS-1:0] bus_address,
    input [7:0] bus_data,
    output reg [7:0] bus_read
);
    (* no_rw_check, ramstyle = "no_rw_check", ram_style = "block" *)
    reg [7:0] bytes [0:DEPTH-1];

    generate
        if (CONTENT != "") begin : filled
            initial $readmemh(CONTENT, bytes);
        end
    endgenerate

    always @(posedge clk) begin
        if (local_write) begin
            bytes[local_address] <= local_data;
            local_read <= local_data;
        end else begin
            local_read <= bytes[local_address];
        end
    end

    always @(posedge clk) begin
        if (bus_write) begin
            bytes[bus_address] <= bus_data;
            bus_read <= bus_data;
        end else begin
            bus_read <= bytes[bus_address];
        end
    end
endmodule
