package stream

import (
	"context"
	"encoding/binary"
)

// A machine is an operator that holds elements. What it makes is a function of what it
// reads.
type machine[U any] interface {
	next(ctx context.Context) (U, error)
	// holds reports whether what it makes next depends on what it has read.
	holds() bool
}

// A holder keeps the state of a machine: where its inputs were when it last held nothing,
// and how many elements it has made since.
type holder[U any] struct {
	machine machine[U]
	inputs  interface {
		mark(to []byte) []byte
		close()
	}
	anchor []byte
	since  uint64
	again  uint64 // of since, yet to be made again
}

// hold returns the cursor of a machine, whose inputs were opened after since was taken.
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
