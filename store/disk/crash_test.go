//go:build unix

package disk

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/larder-data/larder/internal/testing/testrand"
	"github.com/larder-data/larder/store"
	"github.com/larder-data/larder/store/disk/internal/format"
	"github.com/larder-data/larder/store/disk/internal/vfs"
	"github.com/larder-data/larder/store/storetest"
)

// appendForever puts records from a number on, in batches, and prints each number after its Put returned.
func appendForever(s *Store, args []string) error {
	var from, each int
	if _, err := fmt.Sscan(strings.Join(args, " "), &from, &each); err != nil {
		return err
	}
	for i := from; ; i += each {
		if err := s.Put(context.Background(), recordsFrom(i, each)...); err != nil {
			return err
		}
		var done []byte
		for n := range each {
			done = fmt.Appendln(done, i+n)
		}
		if _, err := os.Stdout.Write(done); err != nil {
			return err
		}
	}
}

// A crash is one program of TestCrashesLoseNothingElse.
type crash struct {
	t      *testing.T
	dir    string
	random *rand.Rand
	log    []string
	acked  int
	hit    map[int]bool // records that damage may have lost
}

// TestCrashesLoseNothingElse kills writers at any moment, and truncates, extends and empties their packs. Acknowledged
// records outside the damage must exist, and damaged ones be right or missing. Opening the store reads only existing
// data.
func TestCrashesLoseNothingElse(t *testing.T) {
	random := testrand.New(t)
	for range testrand.Rounds(3, 200) {
		c := &crash{t: t, dir: t.TempDir(), random: random, hit: make(map[int]bool)}
		for range 1 + random.IntN(4) {
			c.write()
			for range random.IntN(3) {
				c.damage()
			}
			c.check()
			if t.Failed() {
				t.Fatal(strings.Join(c.log, "\n"))
			}
		}
	}
}

func (c *crash) say(format string, args ...any) {
	c.log = append(c.log, fmt.Sprintf(format, args...))
}

// write has writers put records, and kills them.
func (c *crash) write() {
	each := 1 + c.random.IntN(20)
	cmd, out := child(c.t, c.dir, "append", c.acked, each)
	for range 1 + c.random.IntN(60) {
		if _, err := out.ReadString('\n'); err != nil {
			c.t.Fatal(err)
		}
		c.acked++
	}
	if err := cmd.Process.Kill(); err != nil {
		c.t.Fatal(err)
	}
	rest, err := io.ReadAll(out)
	if err != nil {
		c.t.Fatal(err)
	}
	c.acked += bytes.Count(rest, []byte("\n"))
	_ = cmd.Wait() // killed
	c.say("%d records, %d together", c.acked, each)
}

// damage damages a pack, and records which records it hits.
func (c *crash) damage() {
	packs, err := filepath.Glob(filepath.Join(c.dir, vfs.Packs, "*"+packSuffix))
	if err != nil || len(packs) == 0 {
		c.t.Fatalf("no packs, %v", err)
	}
	path := packs[c.random.IntN(len(packs))]
	id, _ := strconv.ParseUint(strings.TrimSuffix(filepath.Base(path), packSuffix), 16, 64)
	info, err := os.Stat(path)
	if err == nil && info.Size() > few {
		return // lengthened before
	}
	b, err := os.ReadFile(path)
	if err != nil {
		c.t.Fatal(err)
	}
	found, err := (&format.Pack{ID: id, Reader: bytes.NewReader(b)}).Scan(0, int64(len(b)))
	if err != nil {
		c.t.Fatal(err)
	}
	size := int64(len(b))
	hit := format.Extent{From: size, To: size}
	err = os.Chmod(path, 0o644)
	at := c.random.Int64N(size + 1)
	switch c.random.IntN(4) {
	case 0:
		hit.From = at
		err = errors.Join(err, os.Truncate(path, at))
	case 1:
		hit = format.Extent{From: at, To: min(size, at+c.random.Int64N(20_000))}
		err = errors.Join(err, punch(path, []format.Extent{hit}))
	case 2:
		err = errors.Join(err, os.Truncate(path, size+c.random.Int64N(1<<38)))
	case 3:
		garbage := storetest.Payload(c.random.Uint64(), c.random.IntN(100_000))
		copy(garbage, "LARDREC\x01")
		err = errors.Join(err, os.WriteFile(path, append(b, garbage...), 0o644))
	}
	if err := errors.Join(err, os.Chmod(path, info.Mode())); err != nil {
		c.t.Fatal(err)
	}
	c.say("%s of %d bytes: hit from %d to %d", path, size, hit.From, hit.To)
	hits := make(map[uint64]bool)
	for _, e := range found.Entries {
		if e.Offset() < hit.To && hit.From < e.Offset()+e.Bytes() {
			hits[e.FP] = true
		}
	}
	for i := range c.acked {
		if hits[format.Fingerprint(storetest.Key(i))] {
			c.hit[i] = true
		}
	}
}

// check reads all acknowledged records, and puts the lost ones again.
func (c *crash) check() {
	real := int64(0)
	for _, path := range files(c.t, c.dir) {
		if info, err := os.Stat(path); err == nil {
			real += min(info.Size(), 1<<20)
		}
	}
	s, read := counted(c.t, Options{Dir: c.dir, PackBytes: 64 << 10, BlobBytes: 8 << 10, MaxBytes: -1, Logger: quiet}, nil)
	for i := range c.acked {
		err := holds(s, i)
		if err != nil && (!c.hit[i] || !errors.Is(err, store.ErrNotFound)) {
			c.t.Errorf("hit %t: %v", c.hit[i], err)
		}
		if err != nil {
			mustPut(c.t, s, record(i))
		}
	}
	c.hit = make(map[int]bool)
	if c.random.IntN(3) == 0 {
		if _, err := s.Collect(c.t.Context(), 1<<50); err != nil {
			c.t.Error(err)
		}
	}
	if n := read.Load(); n > 20*real+few {
		c.t.Errorf("%d bytes are read of %d", n, real)
	}
	if err := s.Close(); err != nil {
		c.t.Error(err)
	}
}
