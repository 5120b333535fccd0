package server

import (
	"context"
	"encoding/binary"
	"errors"

	"github.com/larder-data/larder"
	"github.com/larder-data/larder/codec"
	"github.com/larder-data/larder/key"
)

// encoded is a result in the encoding of its client, which the server does not
// interpret.
type encoded []byte

// encodedValue is the codec for results of clients.
var encodedValue = func() *codec.Value[encoded] {
	const id = pythonNamespace + " result/1"
	d := key.DigestOf([]byte(id))
	return &codec.Value[encoded]{
		ID: id, Type: binary.LittleEndian.Uint64(d[1:]), Aliases: true,
		Encode: func(dst []byte, v encoded) ([]byte, error) { return append(dst, v...), nil },
		Decode: func(b []byte) (encoded, error) { return b, nil },
	}
}()

// The forms of a result in a reply.
const (
	resultBytes     = iota // its bytes follow
	resultFile             // the path of a file with its bytes follows
	resultStored           // the client computed it, and it is stored
	resultNotStored        // the client computed it, and it is not stored; the reason follows
	resultFailed           // the client's computation failed
	resultError            // no result; the error follows
	resultNone             // it is not cached
)

const (
	resultsLast = 1        // flag of a frame: the last one
	entryMore   = 1        // flag of an entry: more pieces of it follow
	entryHead   = 20       // bytes of an entry before its body
	fileBytes   = 64 << 10 // smaller results are sent inline
	replyBytes  = 1 << 20  // of a frame of results, approximately
)

// An entry is a result in a reply.
type entry struct {
	index int
	as    byte
	from  byte // larder.From; for an error, 1 if it is a cycle
	size  int  // size of the result
	body  []byte
}

// entry returns the entry for an item.
func (cl *call) entry(ctx context.Context, i int, r larder.Result[encoded], err error) entry {
	e := entry{index: i, from: byte(r.From), size: len(r.Value)}
	switch {
	case errors.Is(err, errTooLarge):
		e.as, e.body = resultNotStored, []byte(message(err))
	case err != nil && cl.hasFailed(i):
		e.as = resultFailed
	case errors.Is(err, larder.ErrNotCached):
		e.as = resultNone
	case err != nil:
		if e.as, e.body = resultError, []byte(message(err)); errors.Is(err, larder.ErrCycle) {
			e.from = 1
		}
	case r.From == larder.Computed && r.Uncached != nil:
		e.as, e.body = resultNotStored, []byte(message(r.Uncached))
	case r.From == larder.Computed:
		e.as = resultStored
	default:
		e.body = r.Value
		if len(r.Value) < fileBytes || cl.flags&callInline != 0 {
			break
		}
		if path, ok := cl.server.options.Larder.File(ctx, r.Key, r.Value); ok {
			e.as, e.body = resultFile, []byte(path)
		}
	}
	return e
}

// results sends entries as the last frame of a reply.
func (c *conn) results(entries ...entry) error {
	c.write.Lock()
	defer c.write.Unlock()
	b := resultsHead(c.out[:0])
	for _, e := range entries {
		for rest, more := e.body, true; more; {
			piece := rest[:min(len(rest), replyBytes)]
			rest = rest[len(piece):]
			more = len(rest) > 0
			b = e.append(b, piece, more)
			if len(b) < replyBytes {
				continue
			}
			endFrame(b, 0)
			if err := c.sendAll(b); err != nil {
				return err
			}
			b = resultsHead(b[:0])
		}
	}
	endFrame(b, resultsLast)
	if cap(b) <= 4*replyBytes {
		c.out = b
	}
	return c.sendAll(b)
}

// resultsHead begins a frame of results.
func resultsHead(b []byte) []byte {
	b = append(b, make([]byte, headBytes+4)...)
	binary.LittleEndian.PutUint16(b[4:], uint16(kindResults))
	return b
}

func endFrame(b []byte, flags uint32) {
	binary.LittleEndian.PutUint32(b, uint32(len(b)-headBytes))
	binary.LittleEndian.PutUint32(b[headBytes:], flags)
}

func (e entry) append(b, piece []byte, more bool) []byte {
	b = binary.LittleEndian.AppendUint32(b, uint32(e.index))
	flags := uint16(0)
	if more {
		flags = entryMore
	}
	b = binary.LittleEndian.AppendUint16(append(b, e.as, e.from), flags)
	b = binary.LittleEndian.AppendUint64(b, uint64(e.size))
	b = binary.LittleEndian.AppendUint32(b, uint32(len(piece)))
	return append(b, piece...)
}
