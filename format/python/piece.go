package python

import (
	"encoding/binary"
	"io"

	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/internal/pyfunction"
)

// An order is what a worker is to do next: to pass over elements, then to make a piece, which
// ends with the element that has it reach a bound. Its first one begins with the generator.
type order struct {
	number   uint64 // of the orders of a reading; not 0
	close    uint64 // 1: close the generator, and nothing else
	skip     uint64 // elements
	elements uint64
	bytes    uint64
	most     uint64 // bytes that an element may have
}

// orderBytes is how many bytes an order has.
const orderBytes = 6 * 8

// fill writes the order.
func (o order) fill(to []byte) error {
	for i, n := range [...]uint64{o.number, o.close, o.skip, o.elements, o.bytes, o.most} {
		binary.LittleEndian.PutUint64(to[8*i:], n)
	}
	return nil
}

// headBytes is what stands in front of the elements of an answer: the number of the order,
// how many elements there are, how many were passed over, and whether (1) there are no more.
// The worker writes how many there are behind each of them, so that they can be had also
// when it ends before it is done.
const headBytes = 4 * 8

// countOf is how many elements an answer has, of whichever order it is.
func countOf(answer []byte) uint64 {
	if len(answer) < headBytes {
		return 0
	}
	return binary.LittleEndian.Uint64(answer[8:])
}

// A piece is some elements, one after another.
type piece struct {
	samples []dataset.Sample
	passed  uint64 // elements before them
	err     error  // io.EOF if there are no more; or what is wrong with the next one
}

// read reads what a worker made of an order.
func (p *piece) read(from []byte, number uint64, reply pyfunction.Reply) error {
	*p = piece{}
	if len(from) < headBytes || binary.LittleEndian.Uint64(from) != number {
		return pyfunction.ErrAnswer
	}
	count, ended := countOf(from), binary.LittleEndian.Uint64(from[24:]) != 0
	p.passed = binary.LittleEndian.Uint64(from[16:])
	from = from[headBytes:]
	for range count {
		s, rest, failed, err := reply.Read(from)
		if err != nil {
			return err
		}
		if failed != nil {
			p.err = failed
			return nil
		}
		p.samples, from = append(p.samples, s), rest
	}
	if ended {
		p.err = io.EOF
	}
	return nil
}
