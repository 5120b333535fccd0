// Package place reads and writes files that lie elsewhere, at URLs.
//
// A [Driver] reads the files of one scheme: package place/http those of http and https, place/s3
// those of s3. A program has the drivers that it imports; larder has these. [Open] looks at a
// file once, and what is read of it from then on is of the version that was there then, or
// the error wraps [ErrChanged].
//
// What a driver tries once is tried again here: what fails for a while, and what breaks off is
// read on from where it broke off, for as long as bytes come ([Limits]). A [Stream] goes through
// a file with few requests; package format/internal/blockcache keeps what was read in places.
//
// [Put] writes a file where the driver is a [Putter]: complete or not at all, and only where there
// is still what [Look] found.
//
// User information and the query of a URL let a program in. They are in no error and in no
// name: see [File.Name] and [File.Identity].
package place

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/larder-data/larder/internal/near"
	"github.com/larder-data/larder/internal/text/urlpath"
)

// A Driver reads files of a scheme. It tries everything once, and may be used by many
// goroutines. Its errors name no URL, as the caller does; those for which another try may
// help are an [*AgainError].
type Driver interface {
	// Stat looks at a file. One that is not there is an error that wraps fs.ErrNotExist.
	Stat(ctx context.Context, u *url.URL) (Version, error)
	// Read opens n bytes, 1 at least, of a version of a file, from a place on; n and the
	// place are within its size. A file that is not that version any more is an error that
	// wraps [ErrChanged]. What is handed out may end early, which the caller notices.
	Read(ctx context.Context, u *url.URL, v Version, at, n int64) (Body, error)
	// List yields the files in a folder, whose URL ends with a slash, in any order, and not
	// those in folders below it.
	List(ctx context.Context, u *url.URL) iter.Seq2[*url.URL, error]
}

// A Body is what comes of a file. Close may be called while Read waits, which then ends.
type Body interface {
	Read(b []byte) (int, error)
	Close() error
}

// A Version is what a file was when it was looked at.
type Version struct {
	Size int64  // in bytes
	Tag  string // what another content would have another of
	// Firm says that another content would have another Tag for certain, also if it came
	// right after this one.
	Firm bool
	// Whole says that the server hands out files as a whole only.
	Whole bool
	// Sum is the SHA-256 of the content, as [Put] noted it, in hexadecimal digits; "" of what was
	// written otherwise.
	Sum string
}

// ErrChanged is wrapped by errors about a file that is not what it was any more.
var ErrChanged = errors.New("the file changed while it was in use; run again")

// An AgainError is one that may be over when what failed is tried again.
type AgainError struct {
	Err   error
	After time.Duration // what the server asks to wait for; 0 if it says nothing
	Busy  bool          // the server has too much to do
}

func (e *AgainError) Error() string { return e.Err.Error() }

// Unwrap returns the error itself.
func (e *AgainError) Unwrap() error { return e.Err }

var (
	mu      sync.Mutex
	drivers = map[string]Driver{}
)

// Register has a driver read the files of a scheme. It is called from init functions, and
// panics if the scheme has a driver already.
func Register(scheme string, d Driver) {
	mu.Lock()
	defer mu.Unlock()
	if drivers[scheme] != nil {
		panic("place: two drivers for " + scheme)
	}
	drivers[scheme] = d
}

// Is reports whether a path is a URL, with whatever scheme, and no name of a file.
func Is(path string) bool { return urlpath.Is(path) }

// Name returns a URL as it may be shown: without user information, query and fragment.
func Name(path string) string { return urlpath.Name(path) }

// Check refuses what no file can be opened at.
func Check(path string) error {
	_, _, err := parse(path)
	return err
}

// parse returns the parts of a URL, and who reads it.
func parse(path string) (Driver, *url.URL, error) {
	u, err := url.Parse(urlpath.Escaped(path))
	if err != nil {
		if e, ok := errors.AsType[*url.Error](err); ok {
			err = e.Err // which does not have the URL in it, but may have a piece of it
		}
		if strings.Contains(err.Error(), "invalid URL escape") {
			err = fmt.Errorf("%w; write %%25 for a percent sign of a name", err)
		}
		if strings.Contains(err.Error(), "invalid port") { // which may be a password
			err = errors.New("its port is no number; of a user and a password the host is missing, or what has a meaning in URLs is not written as % and two digits in them")
		}
		if u, uerr := url.Parse(Name(path)); uerr == nil && u.Host != "" {
			err = errors.New("its user or its query is not escaped as URLs are; write % and two digits for what has a meaning there")
		}
		return nil, nil, fmt.Errorf("%s is no URL: %w", Name(path), err)
	}
	if u.Host == "" {
		return nil, nil, fmt.Errorf("%s names no host", Name(path))
	}
	mu.Lock()
	d := drivers[u.Scheme]
	known := slices.Sorted(maps.Keys(drivers))
	mu.Unlock()
	if d == nil {
		return nil, nil, fmt.Errorf("%s: nothing reads %s://%s", Name(path), u.Scheme, cure(u.Scheme, known))
	}
	return d, u, nil
}

// cure says what to do about a scheme that nobody reads.
func cure(scheme string, known []string) string {
	if len(known) == 0 {
		return "; import github.com/larder-data/larder/place/http or place/s3 in the program"
	}
	if scheme == "gs" || scheme == "az" {
		return "; larder-cloud does, or a program that imports github.com/larder-data/larder/place/cloud/" + scheme
	}
	if n := near.Name(scheme, known); n != "" {
		return "; did you mean " + n + "://?"
	}
	return "; what is read is " + strings.Join(known, ", ") + " (copy the file to this machine)"
}

// List returns the URLs of the files in a folder, by name. It must end with a slash.
func List(ctx context.Context, folder string) (all []string, err error) {
	d, u, err := parse(folder)
	if err != nil {
		return nil, err
	}
	err = again(ctx, func(ctx context.Context) error {
		all = nil
		for f, err := range d.List(ctx, u) {
			if err != nil {
				return err
			}
			if all = append(all, f.String()); len(all) > mostFiles {
				return fmt.Errorf("the folder has more than %d files", mostFiles)
			}
		}
		return nil
	})
	slices.Sort(all)
	return all, named(Name(folder), err)
}

// mostFiles bounds how many files a folder may have.
const mostFiles = 1_000_000

// An Error says of which file something is wrong.
type Error struct {
	Name string // the URL as it may be shown
	Err  error
}

// Error hides what lets somebody in, which libraries may quote of what a server said.
func (e *Error) Error() string { return e.Name + ": " + urlpath.Hide(e.Err.Error()) }

// Unwrap returns what is wrong.
func (e *Error) Unwrap() error { return e.Err }

// named says of which file an error is. A connection that ended is not the end of a file, for
// which who reads it would take it.
func named(name string, err error) error {
	if err == nil {
		return nil
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = errors.New(err.Error())
	}
	return &Error{name, err}
}
