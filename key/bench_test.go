package key

import (
	"strconv"
	"testing"
)

type benchOptions struct {
	Name  string
	Times int
	Scale float64
	Gray  bool
}

func BenchmarkStruct(b *testing.B) {
	o := benchOptions{Name: "letters", Scale: 0.5, Gray: true}
	b.ReportAllocs()
	for b.Loop() {
		o.Times++
		if _, err := Of(o); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkEncodeStruct(b *testing.B) {
	o := benchOptions{Name: "letters", Scale: 0.5, Gray: true}
	var buf []byte
	b.ReportAllocs()
	for b.Loop() {
		o.Times++
		var err error
		if buf, err = Encode(buf[:0], o); err != nil {
			b.Fatal(err)
		}
	}
}

func benchmarkLarge(b *testing.B, v any) {
	b.SetBytes(1 << 20)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Of(v); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkBytes1MiB(b *testing.B)    { benchmarkLarge(b, make([]byte, 1<<20)) }
func BenchmarkFloat32s1MiB(b *testing.B) { benchmarkLarge(b, make([]float32, 1<<18)) }
func BenchmarkFloat64s1MiB(b *testing.B) { benchmarkLarge(b, make([]float64, 1<<17)) }

// BenchmarkDigest1MiB measures the hash alone.
func BenchmarkDigest1MiB(b *testing.B) {
	p := make([]byte, 1<<20)
	b.SetBytes(1 << 20)
	b.ReportAllocs()
	for b.Loop() {
		DigestOf(p)
	}
}

func BenchmarkMap100(b *testing.B) {
	m := map[string]int{}
	for i := range 100 {
		m[string(rune('a'+i))] = i
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Of(m); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkPointers measures the time per pointer of a list.
func BenchmarkPointers(b *testing.B) {
	for _, n := range []int{1, 8, 100, 100_000} {
		list := make([]*benchOptions, n)
		for i := range list {
			list[i] = &benchOptions{Name: "letters", Times: i}
		}
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Of(list); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/pointer")
		})
	}
}

func benchOp(b *testing.B) *Op {
	op, err := NewOp("resize", Version("1"), Param{"width", 224}, Param{"height", 224})
	if err != nil {
		b.Fatal(err)
	}
	return op
}

func BenchmarkAction(b *testing.B) {
	op := benchOp(b)
	image := Input{Name: "image", Ref: Content(DigestOf([]byte("a"))), Kind: "png 1"}
	mask := Input{Name: "mask", Ref: Result(Key(DigestOf([]byte("b"))), "mask"), Kind: "png 1"}
	b.ReportAllocs()
	for b.Loop() {
		op.Action(image, mask)
	}
}

func BenchmarkCall(b *testing.B) {
	op := benchOp(b)
	o := benchOptions{Name: "letters", Scale: 0.5, Gray: true}
	b.ReportAllocs()
	for b.Loop() {
		o.Times++
		if _, err := op.Call(o, 3); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkParts(b *testing.B) {
	a, err := benchOp(b).Call(benchOptions{Name: "letters"}, 3)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		a.Parts()
	}
}
