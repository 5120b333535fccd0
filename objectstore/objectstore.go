// Package objectstore reads and writes remote files at URLs.
//
// A [Driver] reads the files of one scheme: package objectstore/http reads http and https,
// objectstore/s3 reads s3. A program has the drivers that it imports; larder has these.
// [Open] looks up a file once. Later reads return that version, or an error that wraps
// [ErrChanged].
//
// Drivers try everything once; this package retries. It repeats requests that failed
// temporarily, and resumes broken ones while bytes arrive. A [Stream] reads a file in order
// with few requests. Package format/internal/blockcache caches blocks that are read out of
// order.
//
// [Put] writes a file if the driver is a [Putter]: atomically, and only if the URL still
// has the version that [Stat] found.
//
// User information and the query of a URL are credentials. They are in no error and in no
// name: see [File.Name] and [File.Identity].
package objectstore

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

	"github.com/larder-data/larder/internal/text/display"
	"github.com/larder-data/larder/internal/text/urlpath"
)

// A Driver reads files of a scheme. It tries everything once, and may be used by many
// goroutines. Its errors do not name the URL, because the caller does; errors that a retry
// may fix are an [*RetryableError].
type Driver interface {
	// Stat looks up a file. A missing file is an error that wraps fs.ErrNotExist.
	Stat(ctx context.Context, u *url.URL) (Version, error)
	// Read opens n bytes, at least 1, of a version of a file at the offset at; the range is
	// within its size. If the file is no longer that version, the error wraps [ErrChanged].
	// The Body may end early; the caller checks that.
	Read(ctx context.Context, u *url.URL, v Version, at, n int64) (Body, error)
	// List yields the files in a directory, whose URL ends with a slash, in any order,
	// without files of subdirectories.
	List(ctx context.Context, u *url.URL) iter.Seq2[*url.URL, error]
}

// A Body is the content of an answer. Close may be called during Read, which then returns.
type Body interface {
	Read(b []byte) (int, error)
	Close() error
}

// A Version is the state of a file when it was looked up.
type Version struct {
	Size int64  // in bytes
	Tag  string // differs for another content
	// Firm reports that another content certainly has another Tag, even if it was written
	// right after this one.
	Firm bool
	// Whole reports that the server sends files only as a whole.
	Whole bool
	// Sum is the SHA-256 of the content that [Put] stored, in hexadecimal digits; "" if the
	// file was written otherwise.
	Sum string
}

// ErrChanged is wrapped by errors about a file that is no longer the expected version.
var ErrChanged = errors.New("the file changed while it was in use; run again")

// A RetryableError is an error that a retry may fix.
type RetryableError struct {
	Err   error
	After time.Duration // how long the server asks to wait; 0 if it does not say
	Busy  bool          // the server is overloaded
}

func (e *RetryableError) Error() string { return e.Err.Error() }

// Unwrap returns Err.
func (e *RetryableError) Unwrap() error { return e.Err }

var (
	mu      sync.Mutex
	drivers = map[string]Driver{}
)

// Register registers the driver of a scheme. It is called from init functions, and panics
// if the scheme already has a driver.
func Register(scheme string, d Driver) {
	mu.Lock()
	defer mu.Unlock()
	if drivers[scheme] != nil {
		panic("objectstore: two drivers for " + scheme)
	}
	drivers[scheme] = d
}

// Is reports whether a path is a URL, with any scheme, rather than a file name.
func Is(path string) bool { return urlpath.Is(path) }

// Name returns a URL without user information, query and fragment, safe to show.
func Name(path string) string { return urlpath.Name(path) }

// Check refuses paths at which no file can be opened.
func Check(path string) error {
	_, _, err := parse(path)
	return err
}

// parse returns the driver and the parts of a URL.
func parse(path string) (Driver, *url.URL, error) {
	u, err := url.Parse(urlpath.Escaped(path))
	if err != nil {
		if e, ok := errors.AsType[*url.Error](err); ok {
			err = e.Err // lacks the URL, but may contain a piece of it
		}
		if strings.Contains(err.Error(), "invalid URL escape") {
			err = fmt.Errorf("%w; write %%25 for a percent sign of a name", err)
		}
		if strings.Contains(err.Error(), "invalid port") { // may be a password
			err = errors.New("its port is not a number; of a user and a password the host is missing, or what has a meaning in URLs is not written as % and two digits in them")
		}
		if u, uerr := url.Parse(Name(path)); uerr == nil && u.Host != "" {
			err = errors.New("its user or its query is not escaped as URLs are; write % and two digits for what has a meaning there")
		}
		return nil, nil, fmt.Errorf("%s is not a URL: %w", Name(path), err)
	}
	if u.Host == "" {
		return nil, nil, fmt.Errorf("%s names no host", Name(path))
	}
	mu.Lock()
	d := drivers[u.Scheme]
	known := slices.Sorted(maps.Keys(drivers))
	mu.Unlock()
	if d == nil {
		return nil, nil, fmt.Errorf("%s: cannot read %s://%s", Name(path), u.Scheme, fix(u.Scheme, known))
	}
	return d, u, nil
}

// fix tells what to do about a scheme without a driver.
func fix(scheme string, known []string) string {
	if len(known) == 0 {
		return "; import github.com/larder-data/larder/objectstore/http or objectstore/s3 in the program"
	}
	if scheme == "gs" || scheme == "az" {
		return "; larder-cloud does, or a program that imports github.com/larder-data/larder/objectstore/cloud/" + scheme
	}
	if n := display.Nearest(scheme, known); n != "" {
		return "; did you mean " + n + "://?"
	}
	return "; what is read is " + strings.Join(known, ", ") + " (copy the file to this machine)"
}

// List returns the URLs of the files in a directory, sorted by name. dir must end with a
// slash.
func List(ctx context.Context, dir string) (all []string, err error) {
	d, u, err := parse(dir)
	if err != nil {
		return nil, err
	}
	err = again(ctx, func(ctx context.Context) error {
		all = nil
		for f, err := range d.List(ctx, u) {
			if err != nil {
				return err
			}
			if all = append(all, f.String()); len(all) > maxFiles {
				return fmt.Errorf("the directory has more than %d files", maxFiles)
			}
		}
		return nil
	})
	slices.Sort(all)
	return all, named(Name(dir), err)
}

// maxFiles bounds the number of files in a directory.
const maxFiles = 1_000_000

// An Error adds the name of a file to an error.
type Error struct {
	Name string // the URL, safe to show
	Err  error
}

// Error hides credentials, which libraries may quote from a server's message.
func (e *Error) Error() string { return e.Name + ": " + urlpath.Hide(e.Err.Error()) }

// Unwrap returns Err.
func (e *Error) Unwrap() error { return e.Err }

// named adds the name of a file to an error. It converts the end of a connection, which
// readers would mistake for the end of the file.
func named(name string, err error) error {
	if err == nil {
		return nil
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = errors.New(err.Error())
	}
	return &Error{name, err}
}
