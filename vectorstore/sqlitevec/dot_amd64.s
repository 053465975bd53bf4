#include "textflag.h"

// func dotAVX2(a []int16, b []int8) int
//
// The length is a multiple of 16 of at most maxKernel. Each of the 8 sums of 32 bits takes two products for 16 numbers:
// 4096/16 * 2 * 2^15*2^7 = 2^31 at most, and less, since the numbers are at most 2^15-1 and 2^7-1.
TEXT ·dotAVX2(SB), NOSPLIT, $0-56
	MOVQ a_base+0(FP), SI
	MOVQ a_len+8(FP), CX
	MOVQ b_base+24(FP), DI
	VPXOR Y0, Y0, Y0
	XORQ  DX, DX

step:
	CMPQ DX, CX
	JGE  sum
	VPMOVSXBW (DI)(DX*1), Y1
	VPMADDWD (SI)(DX*2), Y1, Y1
	VPADDD Y1, Y0, Y0
	ADDQ $16, DX
	JMP  step

sum:
	VEXTRACTI128 $1, Y0, X1
	VPMOVSXDQ X0, Y0 // sums of 64 bits
	VPMOVSXDQ X1, Y1
	VPADDQ Y1, Y0, Y0
	VEXTRACTI128 $1, Y0, X1
	VPADDQ X1, X0, X0
	VPSRLDQ $8, X0, X1
	VPADDQ X1, X0, X0
	VMOVQ X0, ret+48(FP)
	VZEROUPPER
	RET
