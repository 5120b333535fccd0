package codec

import (
	"bytes"
	"container/heap"
	"encoding/binary"
	"fmt"

	"programs/p05/bitio"
)

type tree struct {
	weight, order int
	sym           byte
	left, right   *tree
}

type forest []*tree

func (f forest) Len() int { return len(f) }
func (f forest) Less(i, j int) bool {
	if f[i].weight != f[j].weight {
		return f[i].weight < f[j].weight
	}
	return f[i].order < f[j].order
}
func (f forest) Swap(i, j int) { f[i], f[j] = f[j], f[i] }
func (f *forest) Push(x any)   { *f = append(*f, x.(*tree)) }
func (f *forest) Pop() any {
	o := *f
	t := o[len(o)-1]
	*f = o[:len(o)-1]
	return t
}

// A code is the bits of a symbol.
type code struct {
	bits uint64
	n    uint
}

func grow(counts *[256]int) *tree {
	f := &forest{}
	for s, n := range counts {
		if n > 0 {
			*f = append(*f, &tree{weight: n, order: s, sym: byte(s)})
		}
	}
	heap.Init(f)
	for order := 256; f.Len() > 1; order++ {
		a, b := heap.Pop(f).(*tree), heap.Pop(f).(*tree)
		heap.Push(f, &tree{weight: a.weight + b.weight, order: order, left: a, right: b})
	}
	if f.Len() == 0 {
		return nil
	}
	return (*f)[0]
}

func (t *tree) codes(out *[256]code, bits uint64, n uint) {
	if t == nil {
		return
	}
	if t.left == nil {
		out[t.sym] = code{bits, max(n, 1)}
		return
	}
	t.left.codes(out, bits<<1, n+1)
	t.right.codes(out, bits<<1|1, n+1)
}

// Huffman is an entropy coder.
type Huffman struct{}

// Name implements Codec.
func (Huffman) Name() string { return "huffman" }

// Encode implements Codec.
func (Huffman) Encode(src []byte) ([]byte, error) {
	var counts [256]int
	for _, b := range src {
		counts[b]++
	}
	var codes [256]code
	grow(&counts).codes(&codes, 0, 0)
	var out bytes.Buffer
	head := binary.AppendUvarint(nil, uint64(len(src)))
	for _, n := range counts {
		head = binary.AppendUvarint(head, uint64(n))
	}
	out.Write(head)
	w := bitio.NewWriter(&out)
	for _, b := range src {
		w.Write(codes[b].bits, codes[b].n)
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

// Decode implements Codec.
func (Huffman) Decode(src []byte) ([]byte, error) {
	r := bytes.NewReader(src)
	size, err := binary.ReadUvarint(r)
	if err != nil {
		return nil, fmt.Errorf("huffman: %w", err)
	}
	var counts [256]int
	for i := range counts {
		n, err := binary.ReadUvarint(r)
		if err != nil {
			return nil, fmt.Errorf("huffman: table: %w", err)
		}
		counts[i] = int(n)
	}
	root := grow(&counts)
	if root == nil {
		return nil, nil
	}
	in := bitio.NewReader(r)
	out := make([]byte, 0, size)
	for uint64(len(out)) < size {
		t := root
		for first := true; t.left != nil || first; first = false {
			b, err := in.Bit()
			if err != nil {
				return nil, err
			}
			if t.left == nil {
				break
			}
			t = [...]*tree{t.left, t.right}[b]
		}
		out = append(out, t.sym)
	}
	return out, nil
}
