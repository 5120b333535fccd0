// Package store defines the interfaces to store records, leases and manifests. It does not
// interpret records.
//
// A record is stored under a key. It holds an encoded value, its type and codec, and its
// provenance; or a link to the record of another key. A lease is the exclusive right to
// compute a key. A manifest is a named list of keys; a pinned one protects their records
// from eviction. [Records], [Leases], [Manifests] and [Evictor] are the operations on
// these; a [Store] implements all of them.
//
// Package store/disk implements the store that the processes of a machine share. Package
// store/storetest is the conformance suite of all stores.
package store

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"time"

	"github.com/larder-data/larder/key"
)

// ErrNotFound is returned (wrapped or bare) if the store has no usable record under a key.
// It also covers damage: the store quarantines a damaged record and reports it to its
// logger.
var ErrNotFound = errors.New("store: not found")

// ErrReadOnly is returned by changes to a read-only store.
var ErrReadOnly = errors.New("store: read-only")

// ErrFull is returned if the medium has no space left for a record.
var ErrFull = errors.New("store: no space left")

// ErrForeign is wrapped by the errors of opening a directory that holds something other
// than a store. Its content is not changed.
var ErrForeign = errors.New("not a cache")

// A Record is what a store holds under a key. A store copies what it needs before Put
// returns; the caller owns the slices.
type Record struct {
	Key key.Key
	// Link, if not zero, is the key that stores the value; this record has no payload.
	Link key.Key
	// Type is a 64-bit fingerprint of the value's type and codec. The reader compares it: a
	// record of another type is not a hit.
	Type uint64
	// Payload is the encoded value. A payload that Get returns is read-only and may be
	// mapped memory: see Mapped.
	Payload []byte
	// Mapped reports that Payload is memory mapped from a file: writing to it ends the
	// program. Other payloads are ordinary memory. A mapped payload stays valid and
	// unchanged while any part of it is referenced, even after its record, file or store is
	// gone, so a decoder may alias it. The garbage collector releases it.
	Mapped bool
	// Cost is how long the computation took. A link has the cost of its result, because it
	// saves as much.
	Cost time.Duration
	// Created is the creation time, to the nanosecond. Put sets it if it is zero.
	Created time.Time
	// Provenance is an opaque description of how the value was computed. Get leaves it
	// empty; the method Provenance reads it.
	Provenance []byte
}

// Check reports why r cannot be stored: no key, a link to itself, or both a link and a
// payload. Every Put calls it first.
func (r Record) Check() error {
	switch {
	case r.Key.IsZero():
		return errors.New("store: the record has no key")
	case r.Link == r.Key:
		return fmt.Errorf("store: record %s links to itself", r.Key)
	case !r.Link.IsZero() && len(r.Payload) > 0:
		return fmt.Errorf("store: record %s has both a link and a payload; remove one", r.Key)
	}
	return nil
}

// Info describes a stored record without its payload.
type Info struct {
	Key     key.Key
	Link    key.Key
	Type    uint64
	Size    int64 // bytes of payload
	Cost    time.Duration
	Created time.Time
	Used    time.Time // last known use, to about an hour
	Pinned  bool
}

// A Manifest is a named, ordered list of keys that one node of a flow used in its last run.
// A zero key means "none at this position". Records named by a pinned manifest, and the
// records they link to, are not evicted.
type Manifest struct {
	Name   string // any string; unique in the store
	Pinned bool
	Time   time.Time // Put sets it if it is zero
	Note   []byte    // opaque to the store
	Keys   []key.Key
}

// Usage reports how much a store holds.
type Usage struct {
	Records int64
	Bytes   int64 // bytes on the medium
	Limit   int64 // the size cap, 0 for none
}

// A caller may depend on any one of the interfaces below. All methods may be called from
// many goroutines and, on a shared medium, from many processes concurrently. Other users of
// the medium see a change within about a second, or immediately where they would find
// nothing.

// Records stores records. Put does not retain its slices; returned slices must not be
// written to.
type Records interface {
	// Get returns the verified record stored under k, or ErrNotFound.
	Get(ctx context.Context, k key.Key) (Record, error)
	// GetWithoutRefresh is Get among the records that this user of the store has seen; it may miss
	// records that another user put in the last second. It is a cheaper miss for callers
	// that then take a lease and call Get.
	GetWithoutRefresh(ctx context.Context, k key.Key) (Record, error)
	// GetMany is Get for many keys in one pass. It returns a record per key, in their
	// order: the zero Record where nothing is stored.
	GetMany(ctx context.Context, keys []key.Key) ([]Record, error)
	// Has reports whether a record seems to be stored under k, without reading its payload;
	// a later Get may still find damage.
	Has(ctx context.Context, k key.Key) (bool, error)
	// Provenance returns the provenance stored with the record under k.
	Provenance(ctx context.Context, k key.Key) ([]byte, error)
	// Put stores records and replaces those under their keys. After an error, some may be
	// stored.
	Put(ctx context.Context, records ...Record) error
	// Delete deletes the records under the given keys, pinned or not. It ignores missing
	// keys.
	Delete(ctx context.Context, keys ...key.Key) error
	// Records yields the stored records, in no particular order.
	Records(ctx context.Context) iter.Seq2[Info, error]
}

// Leases gives callers the exclusive right to compute a key.
type Leases interface {
	// Lease gives the caller the right to compute k, exclusively among all users of the
	// medium; it waits while another caller holds it. The lease ends when release is
	// called, or when the owner's process dies. If leasing is impossible, release does
	// nothing and err is nil.
	Lease(ctx context.Context, k key.Key) (release func(), err error)
	// TryLease is Lease for those of the keys, all different, that no caller holds. It does
	// not wait. taken marks the keys that the caller now holds, and release ends all their
	// leases.
	TryLease(ctx context.Context, keys []key.Key) (taken []bool, release func(), err error)
}

// Manifests stores manifests.
type Manifests interface {
	// PutManifest stores m under its name, replacing an older one.
	PutManifest(ctx context.Context, m Manifest) error
	// Manifest returns the manifest stored under name, or ErrNotFound.
	Manifest(ctx context.Context, name string) (Manifest, error)
	// Manifests yields all manifests without their keys.
	Manifests(ctx context.Context) iter.Seq2[Manifest, error]
	// DeleteManifest deletes a manifest; its records stay, unpinned.
	DeleteManifest(ctx context.Context, name string) error
}

// An Evictor frees space.
type Evictor interface {
	// Usage returns how much the store holds now.
	Usage(ctx context.Context) (Usage, error)
	// Collect evicts records that are not pinned, lowest [Info.EvictionPriority] first, until the
	// store holds at most limit bytes. It returns the number of bytes freed.
	Collect(ctx context.Context, limit int64) (freed int64, err error)
}

// A ChangeCounter store can report that no record has been put, which spares callers a second
// lookup of many keys. This is an optional ability of a [Store].
type ChangeCounter interface {
	// Changes returns a number that changes once a record has become known to this user of
	// the store, whichever user put it. With look it first checks what others have put, as
	// Get does on a miss. If a call before a pass and a call with look after it return the
	// same number, the keys that the pass missed are still missing.
	Changes(look bool) uint64
}

// A FileBacked store stores large payloads in separate files, which other programs of the
// machine can read. This is an optional ability of a [Store].
type FileBacked interface {
	// File returns the file that holds exactly a mapped payload that the store has
	// returned, unless it is known to be gone. It may be removed at any time.
	File(payload []byte) (path string, ok bool)
}

// A Store stores results. It has all that package larder needs.
type Store interface {
	Records
	Leases
	Manifests
	Evictor
	// Close ends the use of the store. Payloads obtained from it stay valid.
	Close() error
}
