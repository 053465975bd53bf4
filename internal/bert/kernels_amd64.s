#include "textflag.h"

// func tileDotsAVX2(sums []int32, weights string, values []byte)
//
// A product of 8 bits and 7 bits plus its neighbour fits into 16 bits, so that VPMADDUBSW does not saturate.
TEXT ·tileDotsAVX2(SB), NOSPLIT, $0-64
	MOVQ sums_base+0(FP), DI
	MOVQ sums_len+8(FP), BX
	MOVQ weights_base+24(FP), SI
	MOVQ values_base+40(FP), R8
	MOVQ values_len+48(FP), CX
	SHRQ $2, CX                // width of a row
	LEAQ (R8)(CX*1), R9
	LEAQ (R9)(CX*1), R10
	LEAQ (R10)(CX*1), R11
	SHRQ $2, BX                // rows of weights
	VPCMPEQW Y15, Y15, Y15
	VPSRLW $15, Y15, Y15       // 16 times 1

row:
	TESTQ BX, BX
	JZ    done
	VPXOR Y4, Y4, Y4
	VPXOR Y5, Y5, Y5
	VPXOR Y6, Y6, Y6
	VPXOR Y7, Y7, Y7
	XORQ  DX, DX

step:
	VMOVDQU (SI)(DX*1), Y0
	VMOVDQU (R8)(DX*1), Y8
	VMOVDQU (R9)(DX*1), Y9
	VMOVDQU (R10)(DX*1), Y10
	VMOVDQU (R11)(DX*1), Y11
	VPMADDUBSW Y0, Y8, Y8
	VPMADDUBSW Y0, Y9, Y9
	VPMADDUBSW Y0, Y10, Y10
	VPMADDUBSW Y0, Y11, Y11
	VPMADDWD Y15, Y8, Y8
	VPMADDWD Y15, Y9, Y9
	VPMADDWD Y15, Y10, Y10
	VPMADDWD Y15, Y11, Y11
	VPADDD Y8, Y4, Y4
	VPADDD Y9, Y5, Y5
	VPADDD Y10, Y6, Y6
	VPADDD Y11, Y7, Y7
	ADDQ $32, DX
	CMPQ DX, CX
	JLT  step

	VPHADDD Y5, Y4, Y4
	VPHADDD Y7, Y6, Y6
	VPHADDD Y6, Y4, Y4
	VEXTRACTI128 $1, Y4, X5
	VPADDD X5, X4, X4
	VMOVDQU X4, (DI)
	ADDQ $16, DI
	ADDQ CX, SI
	DECQ BX
	JMP  row

done:
	VZEROUPPER
	RET

// func floatDotsAVX2(out, x, rows []float32, stride int)
TEXT ·floatDotsAVX2(SB), NOSPLIT, $0-80
	MOVQ out_base+0(FP), DI
	MOVQ out_len+8(FP), BX
	MOVQ x_base+24(FP), R8
	MOVQ x_len+32(FP), CX
	MOVQ rows_base+48(FP), SI
	MOVQ stride+72(FP), R9
	SHLQ $2, R9                // bytes
	SHLQ $2, CX

product:
	TESTQ BX, BX
	JZ    end
	VXORPS Y0, Y0, Y0
	XORQ  DX, DX

lane:
	VMOVUPS (R8)(DX*1), Y1
	VMULPS (SI)(DX*1), Y1, Y1
	VADDPS Y1, Y0, Y0
	ADDQ $32, DX
	CMPQ DX, CX
	JLT  lane

	VEXTRACTF128 $1, Y0, X1
	VADDPS X1, X0, X0
	VPERMILPS $0xEE, X0, X1
	VADDPS X1, X0, X0
	VMOVSHDUP X0, X1
	VADDSS X1, X0, X0
	VMOVSS X0, (DI)
	ADDQ $4, DI
	ADDQ R9, SI
	DECQ BX
	JMP  product

end:
	VZEROUPPER
	RET
