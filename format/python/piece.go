package python

import (
	"encoding/binary"
	"io"

	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/internal/app/pyfunction"
)

// An order is a command to a worker: skip elements, then compute a piece. The piece ends
// with the element that reaches a bound. The first order also starts the generator.
type order struct {
	number   uint64 // of the orders of a reading; not 0
	close    uint64 // 1: close the generator, and nothing else
	skip     uint64 // elements
	elements uint64
	bytes    uint64
	most     uint64 // largest size of an element in bytes
}

// orderBytes is the size of an order.
const orderBytes = 6 * 8

// fill encodes the order.
func (o order) fill(to []byte) error {
	for i, n := range [...]uint64{o.number, o.close, o.skip, o.elements, o.bytes, o.most} {
		binary.LittleEndian.PutUint64(to[8*i:], n)
	}
	return nil
}

// headBytes is the size of the header of an answer: the number of the order, the number
// of elements, the number of skipped elements, and 1 if there are no more. The worker
// updates the number after each element, so that the elements can be used even if the
// worker dies.
const headBytes = 4 * 8

// countOf returns the number of elements in an answer to any order.
func countOf(answer []byte) uint64 {
	if len(answer) < headBytes {
		return 0
	}
	return binary.LittleEndian.Uint64(answer[8:])
}

// A piece is a run of consecutive elements.
type piece struct {
	samples []dataset.Sample
	passed  uint64 // elements skipped before them
	err     error  // io.EOF if there are no more, or the error of the next one
}

// read decodes a worker's answer to an order.
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
