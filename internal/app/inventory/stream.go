package inventory

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/larder-data/larder/key"
	"github.com/larder-data/larder/store"
)

// The stream that Export writes: see the documentation of the package.
const (
	streamMagic   = "LARDEXP" // and the version
	streamVersion = 1

	frameRecord = 'R'
	frameEnd    = 'E'

	recordHeadSize = 1 + 2*key.Size + 5*8
	endSize        = 1 + 2*8

	maxProvenance = 16 << 20 // as in store/disk
	maxPayload    = 16 << 30
)

// ErrDamaged is wrapped by the error of [Import] for a stream that [Export] did not
// write, or that was damaged.
var ErrDamaged = errors.New("damaged")

var errEnd = errors.New("end mark")

// A streamWriter writes and counts the records of a stream.
type streamWriter struct {
	w       io.Writer
	records uint64
	bytes   uint64 // of payload
}

func (s *streamWriter) begin() error {
	_, err := s.w.Write(append([]byte(streamMagic), streamVersion))
	return err
}

// record writes one record, provenance included.
func (s *streamWriter) record(r store.Record) error {
	if len(r.Provenance) > maxProvenance || int64(len(r.Payload)) > maxPayload {
		return fmt.Errorf("record %s is too large to export: %d bytes of provenance, %d of payload", r.Key, len(r.Provenance), len(r.Payload))
	}
	le := binary.LittleEndian
	head := make([]byte, 0, recordHeadSize+sha256.Size)
	head = append(head, frameRecord)
	head = append(head, r.Key[:]...)
	head = append(head, r.Link[:]...)
	head = le.AppendUint64(head, r.Type)
	head = le.AppendUint64(head, uint64(r.Cost))
	head = le.AppendUint64(head, uint64(r.Created.UnixNano()))
	head = le.AppendUint64(head, uint64(len(r.Provenance)))
	head = le.AppendUint64(head, uint64(len(r.Payload)))
	sum := sha256.Sum256(head)
	body := bodyDigest(sum, r)
	for _, b := range [][]byte{append(head, sum[:]...), r.Provenance, r.Payload, body[:]} {
		if _, err := s.w.Write(b); err != nil {
			return err
		}
	}
	s.records++
	s.bytes += uint64(len(r.Payload))
	return nil
}

// bodyDigest covers the header of a record through its digest.
func bodyDigest(head [sha256.Size]byte, r store.Record) (sum [sha256.Size]byte) {
	h := sha256.New()
	h.Write(head[:])
	h.Write(r.Provenance)
	h.Write(r.Payload)
	h.Sum(sum[:0])
	return sum
}

func (s *streamWriter) end() error {
	b := binary.LittleEndian.AppendUint64([]byte{frameEnd}, s.records)
	b = binary.LittleEndian.AppendUint64(b, s.bytes)
	sum := sha256.Sum256(b)
	_, err := s.w.Write(append(b, sum[:]...))
	return err
}

// A streamReader reads the output of a streamWriter. Its errors wrap ErrDamaged,
// unless reading itself failed.
type streamReader struct {
	r       io.Reader
	records uint64
	bytes   uint64
}

func (s *streamReader) begin() error {
	head, err := s.take(int64(len(streamMagic) + 1))
	if err != nil {
		return err
	}
	switch version := head[len(streamMagic)]; {
	case string(head[:len(streamMagic)]) != streamMagic:
		return fmt.Errorf("%w, or no file that larder export wrote", ErrDamaged)
	case version != streamVersion:
		return fmt.Errorf("it has format version %d and this program reads version %d", version, streamVersion)
	}
	return nil
}

// record reads the next record, or returns errEnd after the last.
func (s *streamReader) record() (r store.Record, err error) {
	kind, err := s.take(1)
	if err != nil {
		return r, err
	}
	switch kind[0] {
	case frameEnd:
		return r, s.end()
	case frameRecord:
	default:
		return r, fmt.Errorf("%w: no record begins here", ErrDamaged)
	}
	rest, err := s.take(recordHeadSize - 1 + sha256.Size)
	if err != nil {
		return r, err
	}
	head := slices.Concat(kind, rest[:recordHeadSize-1])
	sum := sha256.Sum256(head)
	if !bytes.Equal(sum[:], rest[recordHeadSize-1:]) {
		return r, fmt.Errorf("%w: the head of a record has a bad digest", ErrDamaged)
	}
	r, provenance, payload, err := decodeHead(head)
	if err != nil {
		return r, err
	}
	if r.Provenance, err = s.take(provenance); err != nil {
		return r, err
	}
	if r.Payload, err = s.take(payload); err != nil {
		return r, err
	}
	want, err := s.take(sha256.Size)
	if err != nil {
		return r, err
	}
	if got := bodyDigest(sum, r); !bytes.Equal(got[:], want) {
		return r, fmt.Errorf("%w: record %s has a bad digest", ErrDamaged, r.Key)
	}
	s.records++
	s.bytes += uint64(payload)
	return r, nil
}

// decodeHead decodes the header of a record, and returns how many bytes follow.
func decodeHead(head []byte) (r store.Record, provenance, payload int64, err error) {
	le := binary.LittleEndian
	r.Key, head = key.Key(head[1:1+key.Size]), head[1+key.Size:]
	r.Link, head = key.Key(head[:key.Size]), head[key.Size:]
	r.Type = le.Uint64(head)
	r.Cost = time.Duration(le.Uint64(head[8:]))
	r.Created = time.Unix(0, int64(le.Uint64(head[16:])))
	long, wide := le.Uint64(head[24:]), le.Uint64(head[32:])
	switch {
	case long > maxProvenance, wide > maxPayload, uint64(int(wide)) != wide:
		return r, 0, 0, fmt.Errorf("%w: record %s has %d bytes of provenance and %d of payload", ErrDamaged, r.Key, long, wide)
	case r.Cost < 0, !r.Link.IsZero() && wide > 0:
		return r, 0, 0, fmt.Errorf("%w: record %s is impossible", ErrDamaged, r.Key)
	}
	if err := r.Check(); err != nil {
		return r, 0, 0, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	return r, int64(long), int64(wide), nil
}

// end reads the rest of the end mark, and checks that nothing follows.
func (s *streamReader) end() error {
	rest, err := s.take(endSize - 1 + sha256.Size)
	if err != nil {
		return err
	}
	le := binary.LittleEndian
	mark := append([]byte{frameEnd}, rest[:endSize-1]...)
	sum := sha256.Sum256(mark)
	switch {
	case !bytes.Equal(sum[:], rest[endSize-1:]):
		return fmt.Errorf("%w: the end mark has a bad digest", ErrDamaged)
	case le.Uint64(mark[1:]) != s.records, le.Uint64(mark[9:]) != s.bytes:
		return fmt.Errorf("%w: %d records of %d bytes were written, and %d of %d are here",
			ErrDamaged, le.Uint64(mark[1:]), le.Uint64(mark[9:]), s.records, s.bytes)
	}
	switch n, err := io.ReadFull(s.r, make([]byte, 1)); {
	case n > 0:
		return fmt.Errorf("%w: more follows after the end mark", ErrDamaged)
	case !errors.Is(err, io.EOF):
		return err
	}
	return errEnd
}

// firstRead bounds the allocation before bytes have arrived.
const firstRead = 1 << 20

// take reads the next n bytes. It allocates at most about twice what has arrived,
// whatever n claims.
func (s *streamReader) take(n int64) ([]byte, error) {
	b := make([]byte, min(n, firstRead))
	for read := int64(0); ; {
		m, err := io.ReadFull(s.r, b[read:])
		read += int64(m)
		switch {
		case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
			return nil, fmt.Errorf("%w: its end is missing; export it again", ErrDamaged)
		case err != nil:
			return nil, err
		case read == n:
			return b, nil
		}
		grown := make([]byte, min(n, 2*read))
		copy(grown, b)
		b = grown
	}
}
