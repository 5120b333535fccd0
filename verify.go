package larder

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"

	"github.com/larder-data/larder/internal/proc/singleflight"
	"github.com/larder-data/larder/key"
)

// A Mismatch is a cached result that differs from its recomputation. The computation is
// random or depends on something that its key does not cover.
type Mismatch struct {
	Node        string // the operation
	Key         key.Key
	Cached, Now int64 // lengths of the encodings in bytes
	At          int64 // offset of the first difference
	Err         error // error of the recomputation
}

func (m Mismatch) String() string {
	if m.Err != nil {
		return fmt.Sprintf("%s (%s) was cached, and fails when computed again: %v", m.Node, m.Key, m.Err)
	}
	return fmt.Sprintf("%s (%s) is not reproducible: cached as %d bytes, now %d, different from byte %d on", m.Node, m.Key, m.Cached, m.Now, m.At)
}

// Verification selects hits that are checked by computing them again.
type Verification struct {
	// Sample is the part of hits from the store that is checked, from 0 for none to 1
	// for all. If it is 0, the environment variable LARDER_VERIFY applies, a number or
	// "1/N".
	Sample float64
	// Found is called with each mismatch, concurrently; nil logs a warning. The caller
	// gets the cached value in any case.
	Found func(Mismatch)
}

// sampleOf parses a part such as "0.1" or "1/10".
func sampleOf(s string) (float64, error) {
	num, den, isFraction := strings.Cut(s, "/")
	a, err := strconv.ParseFloat(num, 64)
	b := 1.0
	if err == nil && isFraction {
		b, err = strconv.ParseFloat(den, 64)
	}
	if p := a / b; err == nil && p >= 0 && p <= 1 {
		return p, nil
	}
	return 0, settingError(fmt.Sprintf("larder: LARDER_VERIFY is %q: give a number from 0 to 1, or 1/N", s))
}

// ErrSetting is the error of an environment variable with an invalid value. The message
// names the variable.
var ErrSetting = errors.New("larder: a variable of the environment cannot have its value")

type settingError string

func (e settingError) Error() string { return string(e) }

// Is reports whether target is ErrSetting.
func (settingError) Is(target error) bool { return target == ErrSetting }

// Verifying reports whether some hits are checked by computing them again.
func (l *Larder) Verifying() bool { return l.verification.Sample > 0 }

func (v Verification) complete() (Verification, error) {
	if v.Sample < 0 || v.Sample > 1 {
		return v, fmt.Errorf("larder: the part of hits to verify is %v: give a number from 0 to 1", v.Sample)
	}
	if s := os.Getenv("LARDER_VERIFY"); v.Sample == 0 && s != "" {
		var err error
		if v.Sample, err = sampleOf(s); err != nil {
			return v, err
		}
	}
	return v, nil
}

// Verifies decides at random whether to check the result that was just found in the
// store under k. It returns true at most once for a key, because a check may find other
// results and this one.
func (l *Larder) Verifies(k key.Key) bool {
	p := l.verification.Sample
	if p <= 0 || p < 1 && rand.Float64() >= p {
		return false
	}
	_, before := l.verified.LoadOrStore(k, true)
	return !before
}

// verify checks a result from the store if it is selected.
func (c Call[T]) verify(ctx context.Context, l *Larder, r Result[T]) error {
	if c.SkipVerify || IsCachedOnly(ctx) || !l.Verifies(r.Key) {
		return nil
	}
	return c.Check(ctx, l, r)
}

// Check computes the call again and compares the result, byte by byte, with the cached
// one. It reports a mismatch to the Larder's [Verification]. It returns an error if ctx
// ends, if Resolve fails, or if the cached value cannot be encoded.
func (c Call[T]) Check(ctx context.Context, l *Larder, r Result[T]) error {
	if c.Resolve != nil && !c.Action.Resolved() {
		if _, err := c.Resolve(ctx); err != nil {
			return err
		}
	}
	now, err := singleflight.Protect(func() (T, error) {
		return c.Compute(withNotebook(ctx, &notebook{}))
	})
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	return c.compare(l, r, now, err)
}

func (c Call[T]) compare(l *Larder, r Result[T], now T, failed error) error {
	l.count.verified.Add(1)
	m := Mismatch{Node: c.Action.Op().Name(), Key: r.Key, Err: failed}
	if failed == nil {
		before, err := c.Value.Encode([]byte{}, r.Value)
		if err != nil {
			return err
		}
		after, err := c.Value.Encode([]byte{}, now)
		if err == nil && bytes.Equal(before, after) {
			return nil
		}
		m.Err, m.Cached, m.Now = err, int64(len(before)), int64(len(after))
		for m.At < min(m.Cached, m.Now) && before[m.At] == after[m.At] {
			m.At++
		}
	}
	l.count.unreproducible.Add(1)
	if l.verification.Found != nil {
		l.verification.Found(m)
	} else {
		l.log.Warn("larder: " + m.String())
	}
	return nil
}
