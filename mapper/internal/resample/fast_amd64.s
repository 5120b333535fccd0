#include "go_asm.h"
#include "textflag.h"

// func downAVX2(row *int32, pix *byte, n, stride int, weights *int64, taps int)
//
// Sums of 32 bytes at a time are in Y0 to Y3. The last of them may overlap those before,
// whose sums are then written twice.
TEXT ·downAVX2(SB), NOSPLIT, $0-48
	MOVQ row+0(FP), DI
	MOVQ pix+8(FP), SI
	MOVQ n+16(FP), CX
	MOVQ stride+24(FP), DX
	MOVQ weights+32(FP), R8
	MOVQ taps+40(FP), R9
	SUBQ $32, CX
	XORQ AX, AX

bytes:
	VPXOR Y0, Y0, Y0
	VPXOR Y1, Y1, Y1
	VPXOR Y2, Y2, Y2
	VPXOR Y3, Y3, Y3
	LEAQ  (SI)(AX*1), R10
	MOVQ  R8, R11
	MOVQ  R9, R12

rows:
	VPBROADCASTD (R11), Y8
	VPMOVZXBD    (R10), Y4
	VPMOVZXBD    8(R10), Y5
	VPMOVZXBD    16(R10), Y6
	VPMOVZXBD    24(R10), Y7
	VPMULLD      Y8, Y4, Y4
	VPMULLD      Y8, Y5, Y5
	VPMULLD      Y8, Y6, Y6
	VPMULLD      Y8, Y7, Y7
	VPADDD       Y4, Y0, Y0
	VPADDD       Y5, Y1, Y1
	VPADDD       Y6, Y2, Y2
	VPADDD       Y7, Y3, Y3
	ADDQ         DX, R10
	ADDQ         $8, R11
	DECQ         R12
	JNZ          rows
	VMOVDQU      Y0, (DI)(AX*4)
	VMOVDQU      Y1, 32(DI)(AX*4)
	VMOVDQU      Y2, 64(DI)(AX*4)
	VMOVDQU      Y3, 96(DI)(AX*4)
	CMPQ         AX, CX
	JGE          done
	ADDQ         $32, AX
	CMPQ         AX, CX
	CMOVQGT      CX, AX
	JMP          bytes

done:
	VZEROUPPER
	RET

// func alongAVX2(to *byte, row *int32, columns *taps, n int, twice *int64, most int)
//
// Two pixels are blended at a time: in Y0 the sums of red and blue of both, in Y1 those
// of green and of the fourth. Of each sum the upper half, shifted by the bits behind the
// point that are left, is the level, to which the packing bounds it.
TEXT ·alongAVX2(SB), NOSPLIT, $0-48
	MOVQ         to+0(FP), DI
	MOVQ         row+8(FP), SI
	MOVQ         columns+16(FP), R8
	MOVQ         n+24(FP), R9
	MOVQ         twice+32(FP), R11
	MOVQ         most+40(FP), R13
	SHRQ         $1, R13
	MOVQ         $const_sumHalf, AX
	VMOVQ        AX, X7
	VPBROADCASTQ X7, X7

pixels:
	MOVQ    taps_first(R8), R10
	SHLQ    $4, R10
	ADDQ    SI, R10
	MOVQ    R13, R12
	VMOVDQA X7, X0
	VMOVDQA X7, X1

add:
	VMOVDQU (R10), Y2
	VMOVDQU (R11), Y4
	VPSRLQ  $32, Y2, Y3
	VPMULDQ Y4, Y2, Y2
	VPMULDQ Y4, Y3, Y3
	VPADDQ  Y2, Y0, Y0
	VPADDQ  Y3, Y1, Y1
	ADDQ    $32, R10
	ADDQ    $32, R11
	DECQ    R12
	JNZ     add

	VEXTRACTI128 $1, Y0, X2
	VEXTRACTI128 $1, Y1, X3
	VPADDQ       X2, X0, X0
	VPADDQ       X3, X1, X1
	VPSRLQ       $32, X0, X0
	VPBLENDD     $0x0a, X1, X0, X0
	VPSRAD       $(const_sumBits-32), X0, X0
	VPACKSSDW    X0, X0, X0
	VPACKUSWB    X0, X0, X0
	VMOVD        X0, AX
	ORL          $0xff000000, AX
	MOVL         AX, (DI)
	ADDQ         $4, DI
	ADDQ         $taps__size, R8
	DECQ         R9
	JNZ          pixels
	VZEROUPPER
	RET
