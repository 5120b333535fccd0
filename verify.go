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

// A Mismatch is a kept result that did not come out the same when it was
// computed again: the computation depends on something that its key does not
// cover, or on chance.
type Mismatch struct {
	Node      string // the operation
	Key       key.Key
	Kept, Now int64 // lengths of the encodings
	At        int64 // the first byte that differs
	Err       error // if it failed now
}

func (m Mismatch) String() string {
	if m.Err != nil {
		return fmt.Sprintf("%s (%s) was kept, and fails when computed again: %v", m.Node, m.Key, m.Err)
	}
	return fmt.Sprintf("%s (%s) is not reproducible: kept as %d bytes, now %d, different from byte %d on", m.Node, m.Key, m.Kept, m.Now, m.At)
}

// Verification says which hits are checked by computing them again.
type Verification struct {
	// Sample is the part of hits from the store that is checked, from 0 for
	// none to 1 for all. If it is 0, the environment's LARDER_VERIFY is asked
	// for it, as a number or as "1/N".
	Sample float64
	// Found is called with each mismatch, from many goroutines; nil warns in
	// the log. The kept value is handed out all the same.
	Found func(Mismatch)
}

// sampleOf reads a part: "0.1" or "1/10".
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

// ErrSetting is the error of a variable of the environment that has a value it cannot
// have, of which the message says which.
var ErrSetting = errors.New("larder: a variable of the environment cannot have its value")

type settingError string

func (e settingError) Error() string { return string(e) }

// Is reports that it is ErrSetting, of which the text says nothing more.
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

// Verifies tells by chance whether the result that is kept under k, and was
// found in the store just now, is to be checked. It says so once for a key:
// what checks a result may well find others, and this one, on its way.
func (l *Larder) Verifies(k key.Key) bool {
	p := l.verification.Sample
	if p <= 0 || p < 1 && rand.Float64() >= p {
		return false
	}
	_, before := l.verified.LoadOrStore(k, true)
	return !before
}

// verify computes a result from the store again, if it is its turn.
func (c Call[T]) verify(ctx context.Context, l *Larder, r Result[T]) error {
	if c.ofBuild || IsDry(ctx) || !l.Verifies(r.Key) {
		return nil
	}
	return c.Check(ctx, l, r)
}

// Check computes the call again and compares the outcome, byte by byte, with a
// result that was kept. What it finds goes to the Larder's [Verification]; the
// error is that of a context that ended.
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

// compare compares a result that was kept with what it came out as now.
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
		m.Err, m.Kept, m.Now = err, int64(len(before)), int64(len(after))
		for m.At < min(m.Kept, m.Now) && before[m.At] == after[m.At] {
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
