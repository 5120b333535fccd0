package resample

import (
	"bytes"
	"fmt"
	"image"
	"math"
	"math/rand/v2"
	"testing"

	"golang.org/x/image/draw"
)

// kernels has kernels that overshoot and some that do not.
var kernels = map[string]*draw.Kernel{
	"box":      {Support: 0.5 + 1e-9, At: func(float64) float64 { return 1 }},
	"bilinear": draw.BiLinear,
	"bicubic":  draw.CatmullRom,
	"lanczos": {Support: 3, At: func(t float64) float64 {
		if t == 0 {
			return 1
		}
		return 3 * math.Sin(math.Pi*t) * math.Sin(math.Pi*t/3) / (math.Pi * math.Pi * t * t)
	}},
}

// withoutVectors runs a function as on a processor without vector instructions.
func withoutVectors(run func()) {
	had := fast
	fast = false
	defer func() { fast = had }()
	run()
}

// TestVectorsGiveTheSame checks that vector code and the Go loops scale to identical bits.
func TestVectorsGiveTheSame(t *testing.T) {
	if !fast {
		t.Skip("the processor has no vectors that are used here")
	}
	random := rand.New(rand.NewPCG(5, 6))
	fills := []func(i int) byte{
		func(int) byte { return byte(random.Uint32()) },
		func(i int) byte { return byte(255 * (i / 8 % 2)) }, // filters overshoot most here
		func(int) byte { return 255 },
	}
	for name, k := range kernels {
		for i := range 300 {
			from := image.Pt(1+random.IntN(90), 1+random.IntN(40))
			to := image.Pt(1+random.IntN(60), 1+random.IntN(30))
			if i%50 == 0 {
				from.X += 1000
			}
			for kind, width := range map[Kind]int{Grey: 1, Colour: 4} {
				in := Pixels{Stride: width*from.X + random.IntN(5), Size: from}
				in.Pix = make([]byte, (from.Y-1)*in.Stride+width*from.X)
				for at := range in.Pix {
					in.Pix[at] = fills[i%len(fills)](at)
				}
				scaled := func() []byte {
					out := Pixels{make([]byte, width*to.X*to.Y), width * to.X, to}
					Scale(out, in, kind, k)
					return out.Pix
				}
				got := scaled()
				withoutVectors(func() {
					if want := scaled(); !bytes.Equal(got, want) {
						t.Fatalf("%s: %v of %d bytes to %v differs", name, from, width, to)
					}
				})
			}
		}
	}
}

// BenchmarkScale reduces a photograph.
func BenchmarkScale(b *testing.B) {
	in := Pixels{make([]byte, 4*500*375), 4 * 500, image.Pt(500, 375)}
	for i := range in.Pix {
		in.Pix[i] = byte(i * 7)
	}
	out := Pixels{make([]byte, 4*224*224), 4 * 224, image.Pt(224, 224)}
	for _, vectors := range []bool{true, false} {
		b.Run(fmt.Sprintf("vectors=%v", vectors), func(b *testing.B) {
			if vectors && !fast {
				b.Skip("the processor has no vectors that are used here")
			}
			run := func() {
				for b.Loop() {
					Scale(out, in, Colour, draw.BiLinear)
				}
			}
			if vectors {
				run()
				return
			}
			withoutVectors(run)
		})
	}
}
