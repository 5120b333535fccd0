// Package store defines where records live at rest, and nothing about what
// they mean.
//
// A record is what is kept under a key: an encoded value, the type and codec
// that read it back, and its provenance; or a link to the record of another key.
// A lease is the right to compute a key, alone among all users of a store. A
// manifest is a named list of keys; a pinned one keeps their records from being
// evicted. [Records], [Leases], [Manifests] and [Evictor] are what can be done
// with these; a [Store] does all of it.
//
// Package store/disk is the store every process of a machine shares; package
// store/storetest is the conformance suite that every store passes.
package store

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"time"

	"github.com/larder-data/larder/key"
)

// ErrNotFound is returned (wrapped or bare) where no usable record is kept
// under a key. Damage is not an error of its own: a damaged record is set
// aside, reported to the store's logger, and not found.
var ErrNotFound = errors.New("store: not found")

// ErrReadOnly is returned by changes to a store that cannot be written.
var ErrReadOnly = errors.New("store: read-only")

// ErrFull is returned where the medium has no space left for a record.
var ErrFull = errors.New("store: no space left")

// ErrForeign is wrapped by the errors of opening a folder that holds something
// else than a store: nothing in it is touched.
var ErrForeign = errors.New("no cache")

// A Record is what a store keeps under a key. A store copies what it needs
// before Put returns; the caller owns its slices.
type Record struct {
	Key key.Key
	// Link, if not zero, says that the value is kept under another key:
	// such a record has no payload.
	Link key.Key
	// Type is a 64-bit fingerprint of the value's type and codec. It is
	// compared by the reader: a record of another type is not a hit.
	Type uint64
	// Payload is the encoded value. As returned by Get it is read-only and
	// may be mapped memory: see Mapped.
	Payload []byte
	// Mapped says that Payload is memory mapped from a file: writing to it
	// ends the program. Else it is memory like any other. It stays valid and
	// unchanged as long as any part of it is referred to, whatever becomes of
	// the record, its file and the store, and is let go of by the garbage
	// collector. So a decoder may alias it.
	Mapped bool
	// Cost is how long the computation took; of a record that only leads to
	// its result, too, as it saves as much.
	Cost time.Duration
	// Created is when the record was made, kept to the nanosecond; Put sets
	// it if it is zero.
	Created time.Time
	// Provenance is an opaque description of how the value came to be. Get
	// leaves it empty: it is read by Provenance.
	Provenance []byte
}

// Check reports why r cannot be kept: it has no key, links to itself, or has
// both a link and a payload. Every Put begins with it.
func (r Record) Check() error {
	switch {
	case r.Key.IsZero():
		return errors.New("store: a record needs a key")
	case r.Link == r.Key:
		return fmt.Errorf("store: record %s links to itself", r.Key)
	case !r.Link.IsZero() && len(r.Payload) > 0:
		return fmt.Errorf("store: record %s has both a link and a payload: give one of them", r.Key)
	}
	return nil
}

// Info describes a kept record without its payload.
type Info struct {
	Key     key.Key
	Link    key.Key
	Type    uint64
	Size    int64 // bytes of payload
	Cost    time.Duration
	Created time.Time
	Used    time.Time // last use as far as it is known, to about an hour
	Pinned  bool
}

// A Manifest is a named list of keys, in order: what one node of a flow used
// when it last ran. Zero keys are allowed and mean "none at this position".
// Records named by a pinned manifest, and those they link to, are not evicted.
type Manifest struct {
	Name   string // any text; unique in the store
	Pinned bool
	Time   time.Time // Put sets it if it is zero
	Note   []byte    // opaque to the store
	Keys   []key.Key
}

// Usage says how much a store holds.
type Usage struct {
	Records int64
	Bytes   int64 // bytes on the medium
	Limit   int64 // the size cap, 0 for none
}

// The capabilities below may be had one by one: who needs one takes that. All
// methods may be called from many goroutines, and on a shared medium from many
// processes at once. What one user changes, others of the same medium see within
// about a second, and at once where they would otherwise find nothing.

// Records keeps records. Slices handed to Put are not kept; slices returned by
// Get must not be written to.
type Records interface {
	// Get returns the record kept under k, verified, or ErrNotFound.
	Get(ctx context.Context, k key.Key) (Record, error)
	// GetSeen is Get among what this user of the store has seen: it may miss
	// what another one put in the last second. It is cheaper where nothing is
	// kept, for a caller who goes on to take a lease and to Get.
	GetSeen(ctx context.Context, k key.Key) (Record, error)
	// GetMany is Get for many keys in one pass. It returns a record for each,
	// in their order: the zero Record where none is kept.
	GetMany(ctx context.Context, keys []key.Key) ([]Record, error)
	// Has reports whether a record seems to be kept under k. It reads no
	// payload, so a later Get may still find damage.
	Has(ctx context.Context, k key.Key) (bool, error)
	// Provenance returns the provenance kept with the record under k.
	Provenance(ctx context.Context, k key.Key) ([]byte, error)
	// Put keeps records, replacing what was kept under their keys. After an
	// error, some may be kept.
	Put(ctx context.Context, records ...Record) error
	// Delete forgets the records under the given keys, pinned or not. Keys
	// that are not kept are ignored.
	Delete(ctx context.Context, keys ...key.Key) error
	// Records yields what is kept, in no particular order.
	Records(ctx context.Context) iter.Seq2[Info, error]
}

// Leases lends keys to whoever computes them.
type Leases interface {
	// Lease gives the caller the right to compute k, alone among all users
	// of the medium; it waits while another holds it. The lease ends when
	// release is called, or when its owner's process dies. Where nothing can
	// be lent, release does nothing and there is no error.
	Lease(ctx context.Context, k key.Key) (release func(), err error)
	// TryLease is Lease for those of the keys, which are all different, that
	// nobody holds. It does not wait: lent says which these are, and release
	// ends all their leases.
	TryLease(ctx context.Context, keys []key.Key) (lent []bool, release func(), err error)
}

// Manifests keeps manifests.
type Manifests interface {
	// PutManifest keeps m under its name, replacing what was there.
	PutManifest(ctx context.Context, m Manifest) error
	// Manifest returns the manifest kept under name, or ErrNotFound.
	Manifest(ctx context.Context, name string) (Manifest, error)
	// Manifests yields all manifests without their keys.
	Manifests(ctx context.Context) iter.Seq2[Manifest, error]
	// DeleteManifest forgets a manifest; its records stay, unpinned.
	DeleteManifest(ctx context.Context, name string) error
}

// An Evictor makes room.
type Evictor interface {
	// Usage says how much is held now.
	Usage(ctx context.Context) (Usage, error)
	// Collect evicts records that are not pinned, those worth least first
	// ([Info.Worth]), until at most limit bytes are held, and returns the bytes
	// freed.
	Collect(ctx context.Context, limit int64) (freed int64, err error)
}

// A Changing store can tell that nothing new has been put. A [Store] may have this
// beside what it needs: who looks for many keys twice is spared the second time.
type Changing interface {
	// Changes returns a number that is another one once a record has become known
	// to this user of the store, whoever put it. With look it first finds out what
	// others have put, as Get does where it finds nothing: what a pass after one
	// call missed is not there at another one that looks and returns the same.
	Changes(look bool) uint64
}

// A Filed store keeps large payloads in files of their own. A [Store] may have this
// beside what it needs: other programs of the machine can then read what one has got.
type Filed interface {
	// File returns the file that is all of a payload that the store has handed out and
	// that is mapped, unless it is known to be gone. It may be removed at any time.
	File(payload []byte) (path string, ok bool)
}

// A Store keeps results: all that package larder needs.
type Store interface {
	Records
	Leases
	Manifests
	Evictor
	// Close ends the use of the store. Payloads got from it stay valid.
	Close() error
}
