package server

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// kind is the kind of a frame. docs/reference/protocol.md describes their contents.
type kind uint16

const (
	kindHello kind = iota + 1
	kindWelcome
	kindOpen
	kindOpened
	kindStart
	kindStarted
	kindStop
	kindStopped
	kindLayout
	kindBatch
	kindRelease
	kindEpoch
	kindError
	kindNote
	kindGet
	kindGot
	kindStatus
	kindStatuses
	kindEnd
	kindData
	kindKeep
	kindFunction
	kindFunctioned
	kindCall
	kindResults
	kindCompute
	kindAbout
	kindComputed
	kindForget
	kindForgotten
	kindWhy
	kindWhys
)

const (
	headBytes  = 8
	maxRequest = 16 << 20 // bytes of a request's body
	maxReply   = 64 << 20
)

// A frame is one message.
type frame struct {
	kind kind
	body []byte
}

// errProtocol marks violations of the protocol.
var errProtocol = errors.New("not allowed by the protocol")

// readFrame reads one frame of at most most bytes. It allocates memory as bytes
// arrive.
func readFrame(r io.Reader, most int) (frame, error) {
	var head [headBytes]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return frame{}, err
	}
	n := binary.LittleEndian.Uint32(head[:])
	f := frame{kind: kind(binary.LittleEndian.Uint16(head[4:]))}
	switch {
	case head[6] != 0 || head[7] != 0:
		return f, fmt.Errorf("%w: bytes 6 and 7 of a frame must be 0", errProtocol)
	case uint64(n) > uint64(most):
		return f, fmt.Errorf("%w: a frame of kind %d has %d bytes; at most %d are allowed", errProtocol, f.kind, n, most)
	}
	for len(f.body) < int(n) {
		had := len(f.body)
		f.body = append(f.body, make([]byte, min(int(n)-had, max(1<<16, had)))...)
		if _, err := io.ReadFull(r, f.body[had:]); err != nil {
			if errors.Is(err, io.EOF) {
				err = io.ErrUnexpectedEOF
			}
			return f, err
		}
	}
	return f, nil
}

// appendFrame appends a frame's header and the bytes that body appends.
func appendFrame(b []byte, k kind, body func([]byte) []byte) []byte {
	at := len(b)
	b = append(b, make([]byte, headBytes)...)
	b = body(b)
	binary.LittleEndian.PutUint32(b[at:], uint32(len(b)-at-headBytes))
	binary.LittleEndian.PutUint16(b[at+4:], uint16(k))
	return b
}

// appendJSON appends a frame whose body is JSON.
func appendJSON(b []byte, k kind, v any) ([]byte, error) {
	text, err := json.Marshal(v)
	if err == nil && len(text) > maxReply {
		err = fmt.Errorf("a reply of %d bytes is more than the %d of a frame", len(text), maxReply)
	}
	if err != nil {
		return b, err
	}
	return appendFrame(b, k, func(b []byte) []byte { return append(b, text...) }), nil
}

// appendNumbers appends numbers of 8 bytes.
func appendNumbers(b []byte, all ...int64) []byte {
	for _, n := range all {
		b = binary.LittleEndian.AppendUint64(b, uint64(n))
	}
	return b
}
