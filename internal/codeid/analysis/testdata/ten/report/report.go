// Package report prints lazy values with how they came about.
package report

import (
	"context"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"os"
	"strings"
	"time"

	"github.com/larder-data/larder"
	"github.com/larder-data/larder/lazy"
)

// A Report prints one line for each value.
type Report struct {
	l     *larder.Larder
	start time.Time
}

// Open makes a report that uses the cache of the environment.
func Open() *Report {
	l, err := larder.Open(larder.Options{})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	return &Report{l: l, start: time.Now()}
}

// Close prints how long it all took.
func (r *Report) Close() {
	fmt.Printf("TIME\t%v\n", time.Since(r.start).Round(time.Millisecond))
	_ = r.l.Close()
}

// Show prints a value: name, what was computed for it, key, value or error.
func Show[T any](r *Report, name string, v lazy.Value[T]) {
	ctx := context.Background()
	var done []string
	start := time.Now()
	got, err := lazy.Get(ctx, r.l, v, lazy.Evaluation{Progress: func(p lazy.Progress) {
		if p.From == larder.Computed {
			done = append(done, p.Node)
		}
	}})
	took := time.Since(start)
	if err != nil {
		fmt.Printf("%s\trefused\t-\t%v\n", name, err)
		return
	}
	k, err := v.Key(ctx, r.l)
	if err != nil {
		fmt.Printf("%s\tnokey\t-\t%v\n", name, err)
		return
	}
	b, err := json.Marshal(got)
	if err != nil {
		b = fmt.Append(nil, got)
	}
	text := string(b)
	if len(text) > 100 {
		text = fmt.Sprintf("%s... (%d, %08x)", text[:100], len(text), crc32.ChecksumIEEE(b))
	}
	how := "kept"
	if len(done) > 0 {
		how = "computed " + strings.Join(done, ",")
	}
	fmt.Printf("%s\t%s\t%v\t%s\t%v\n", name, how, k, text, took.Round(time.Millisecond))
}

// own prints how a function itself is known, whatever its arguments are.
func own(r *Report, name string, k func(context.Context, *larder.Larder) error) {
	if err := k(context.Background(), r.l); err != nil {
		fmt.Printf("OWN\t%s\trefused\t%v\n", name, err)
		return
	}
	fmt.Printf("OWN\t%s\tok\n", name)
}

// Own0 prints how a function without arguments is known.
func Own0[R any](r *Report, name string, f func() lazy.Value[R]) {
	own(r, name, func(ctx context.Context, l *larder.Larder) error { _, err := f().Key(ctx, l); return err })
}

// Own1 prints how a function of one argument is known.
func Own1[A, R any](r *Report, name string, f func(lazy.Value[A]) lazy.Value[R]) {
	own(r, name, func(ctx context.Context, l *larder.Larder) error {
		_, err := f(zero[A]()).Key(ctx, l)
		return err
	})
}

// Own2 prints how a function of two arguments is known.
func Own2[A, B, R any](r *Report, name string, f func(lazy.Value[A], lazy.Value[B]) lazy.Value[R]) {
	own(r, name, func(ctx context.Context, l *larder.Larder) error {
		_, err := f(zero[A](), zero[B]()).Key(ctx, l)
		return err
	})
}

// Own3 prints how a function of three arguments is known.
func Own3[A, B, C, R any](r *Report, name string, f func(lazy.Value[A], lazy.Value[B], lazy.Value[C]) lazy.Value[R]) {
	own(r, name, func(ctx context.Context, l *larder.Larder) error {
		_, err := f(zero[A](), zero[B](), zero[C]()).Key(ctx, l)
		return err
	})
}

// Own4 prints how a function of four arguments is known.
func Own4[A, B, C, D, R any](r *Report, name string, f func(lazy.Value[A], lazy.Value[B], lazy.Value[C], lazy.Value[D]) lazy.Value[R]) {
	own(r, name, func(ctx context.Context, l *larder.Larder) error {
		_, err := f(zero[A](), zero[B](), zero[C](), zero[D]()).Key(ctx, l)
		return err
	})
}

func zero[T any]() lazy.Value[T] {
	var v T
	return lazy.Of(v)
}
