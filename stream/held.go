package stream

import (
	"context"
	"encoding/binary"
)

// A machine is an operator that holds elements. Its outputs are a function of its
// inputs.
type machine[U any] interface {
	next(ctx context.Context) (U, error)
	// holds reports whether the next output depends on elements read before.
	holds() bool
}

// A holder keeps the state of a machine: the position of its inputs when it last held
// nothing, and the number of outputs since.
type holder[U any] struct {
	machine machine[U]
	inputs  interface {
		mark(to []byte) []byte
		close()
	}
	anchor []byte
	since  uint64
	again  uint64 // of since, outputs to compute again
}

// hold returns the cursor of a machine. Its inputs are at their recorded position, and
// it computes since outputs again first.
func hold[U any](since uint64, m machine[U], inputs interface {
	mark(to []byte) []byte
	close()
}) *holder[U] {
	return &holder[U]{m, inputs, inputs.mark(nil), since, since}
}

func (h *holder[U]) next(ctx context.Context) (v U, err error) {
	for ; h.again > 0; h.again-- {
		if _, err := h.machine.next(ctx); err != nil {
			return v, again(err)
		}
	}
	if h.since > 0 && !h.machine.holds() {
		h.anchor, h.since = h.inputs.mark(h.anchor[:0]), 0
	}
	if v, err = h.machine.next(ctx); err == nil {
		h.since++
	}
	return v, err
}

func (h *holder[U]) mark(to []byte) []byte {
	if h.again == 0 && h.since > 0 && !h.machine.holds() {
		return h.inputs.mark(binary.AppendUvarint(to, 0))
	}
	return append(binary.AppendUvarint(to, h.since), h.anchor...)
}

func (h *holder[U]) close() { h.inputs.close() }
