// Command p05 compares compressors.
package main

import (
	"context"
	"math/rand"
	"strings"

	"github.com/larder-data/larder/lazy"

	"programs/p05/codec"
	"programs/p05/copied/crc32"
	"programs/report"
)

// A Ratio is how well a codec did.
type Ratio struct {
	Codec   string
	In, Out int
}

var (
	text = lazy.Func2("text", func(_ context.Context, seed int64, n int) ([]byte, error) {
		r := rand.New(rand.NewSource(seed))
		words := strings.Fields("the a quick brown fox jumps over lazy dog and")
		var b strings.Builder
		for range n {
			b.WriteString(words[r.Intn(len(words))])
			b.WriteByte(' ')
		}
		return []byte(b.String()), nil
	})
	huffman = lazy.Func1("huffman", func(_ context.Context, b []byte) ([]byte, error) { return codec.Huffman{}.Encode(b) })
	rle     = lazy.Func1("rle", func(_ context.Context, b []byte) ([]byte, error) { return codec.RLE{}.Encode(b) })
	lzw     = lazy.Func1("lzw", func(_ context.Context, b []byte) ([]byte, error) { return codec.LZW{Width: 8}.Encode(b) })
	unlzw   = lazy.Func1("unlzw", func(_ context.Context, b []byte) ([]byte, error) { return codec.LZW{Width: 8}.Decode(b) })
	flate   = lazy.Func1("flate", func(_ context.Context, b []byte) ([]byte, error) { return codec.Flate{Level: 9}.Encode(b) })
	unflate = lazy.Func1("unflate", func(_ context.Context, b []byte) ([]byte, error) { return codec.Flate{}.Decode(b) })
	pack    = lazy.Func2("pack", func(_ context.Context, name string, b []byte) (codec.Frame, error) { return codec.Pack(name, b) })
	unpack  = lazy.Func1("unpack", func(_ context.Context, f codec.Frame) (string, error) {
		b, err := f.Unpack()
		return string(b), err
	})
	names = lazy.Func0("names", func(context.Context) ([]string, error) { return codec.Names(), nil })
	sum   = lazy.Lift1("sum", crc32.ChecksumIEEE)
	ratio = lazy.Func1("ratio", func(_ context.Context, b []byte) ([]Ratio, error) {
		var out []Ratio
		for _, n := range codec.Names() {
			f, err := codec.Pack(n, b)
			if err != nil {
				return nil, err
			}
			out = append(out, Ratio{n, len(b), len(f.Data)})
		}
		return out, nil
	})
)

func main() {
	r := report.Open()
	defer r.Close()
	t := text(lazy.Of(int64(1)), lazy.Of(200))
	report.Show(r, "text", t)
	report.Show(r, "huffman", huffman(t))
	report.Show(r, "rle", rle(t))
	report.Show(r, "lzw", lzw(t))
	report.Show(r, "unlzw", unlzw(lzw(t)))
	report.Show(r, "flate", flate(t))
	report.Show(r, "unflate", unflate(flate(t)))
	f := pack(lazy.Of("rle+huffman"), t)
	report.Show(r, "pack", f)
	report.Show(r, "unpack", unpack(f))
	report.Show(r, "names", names())
	report.Show(r, "sum", sum(t))
	report.Show(r, "ratio", ratio(t))
	report.Own2(r, "text", text)
	report.Own1(r, "huffman", huffman)
	report.Own1(r, "rle", rle)
	report.Own1(r, "lzw", lzw)
	report.Own1(r, "unlzw", unlzw)
	report.Own1(r, "flate", flate)
	report.Own1(r, "unflate", unflate)
	report.Own2(r, "pack", pack)
	report.Own1(r, "unpack", unpack)
	report.Own0(r, "names", names)
	report.Own1(r, "sum", sum)
	report.Own1(r, "ratio", ratio)
}
