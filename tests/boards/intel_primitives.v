// Primitives of Intel's FPGAs that LiteX instantiates, without content, for tools that don't know them.
(* blackbox *)
module ALTPLL #(
    parameter BANDWIDTH_TYPE = "",
    parameter CLK0_DIVIDE_BY = 1,
    parameter CLK0_DUTY_CYCLE = 50,
    parameter CLK0_MULTIPLY_BY = 1,
    parameter CLK0_PHASE_SHIFT = 0,
    parameter CLK1_DIVIDE_BY = 1,
    parameter CLK1_DUTY_CYCLE = 50,
    parameter CLK1_MULTIPLY_BY = 1,
    parameter CLK1_PHASE_SHIFT = 0,
    parameter COMPENSATE_CLOCK = "",
    parameter INCLK0_INPUT_FREQUENCY = 0,
    parameter OPERATION_MODE = ""
) (
    input [1:0] INCLK,
    input ARESET,
    input [5:0] CLKENA,
    input [3:0] EXTCLKENA,
    input FBIN,
    input PFDENA,
    input PLLENA,
    output [4:0] CLK,
    output LOCKED
);
endmodule

(* blackbox *)
module DFF (input d, input clk, input clrn, input prn, output q);
endmodule

(* blackbox *)
module DFFE (input d, input clk, input clrn, input prn, input ena, output q);
endmodule

(* blackbox *)
module ALTDDIO_IN #(
    parameter WIDTH = 1
) (
    input [WIDTH-1:0] datain,
    input inclock,
    output [WIDTH-1:0] dataout_h,
    output [WIDTH-1:0] dataout_l
);
endmodule

(* blackbox *)
module ALTDDIO_OUT #(
    parameter WIDTH = 1
) (
    input [WIDTH-1:0] datain_h,
    input [WIDTH-1:0] datain_l,
    input outclock,
    output [WIDTH-1:0] dataout
);
endmodule
