// Package gs reads and writes objects of Google Cloud Storage, at gs://BUCKET/KEY. A
// program that imports it accepts such URLs where it reads and writes files: see package
// objectstore.
//
// Credentials are found as Google's tools find them: GOOGLE_APPLICATION_CREDENTIALS, gcloud
// auth application-default login, the account of the machine. Without any, requests are
// anonymous, for public data. STORAGE_EMULATOR_HOST names another service with the same
// protocol.
//
// A version is a generation, which stays readable in a bucket that keeps old ones. Google's
// client itself resumes a broken answer once, which the counts of requests do not show.
package gs

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"net/url"
	"strconv"
	"strings"
	"sync"

	"cloud.google.com/go/storage"
	"google.golang.org/api/googleapi"
	"google.golang.org/api/iterator"

	"github.com/larder-data/larder/objectstore"
	"github.com/larder-data/larder/objectstore/cloud/internal/answer"
)

func init() { objectstore.Register("gs", &driver{}) }

// A driver implements [objectstore.Putter].
type driver struct {
	mu   sync.Mutex
	made map[asked]*storage.Client
}

// asked identifies a client: by its service, and by whether it writes.
type asked struct {
	service string
	write   bool
}

const (
	generationTag = "generation "
	access        = "GOOGLE_APPLICATION_CREDENTIALS, gcloud auth application-default login or the account of the machine"
)

// check refuses parts of a URL that are not supported.
func check(u *url.URL) error {
	if u.User != nil || u.RawQuery != "" || u.ForceQuery {
		return errors.New("a URL of gs has no user and no parameters; set GOOGLE_APPLICATION_CREDENTIALS, and write %3F for a question mark in a key")
	}
	return nil
}

// object returns the object at a URL. Each request is sent once, because the caller
// retries.
func (d *driver) object(u *url.URL, write bool) (*storage.BucketHandle, *storage.ObjectHandle, error) {
	if err := check(u); err != nil {
		return nil, nil, err
	}
	c, err := d.client(write)
	if err != nil {
		return nil, nil, err
	}
	b := c.Bucket(u.Host).Retryer(storage.WithPolicy(storage.RetryNever))
	return b, b.Object(strings.TrimPrefix(u.Path, "/")), nil
}

// Stat looks up an object.
func (d *driver) Stat(ctx context.Context, u *url.URL) (v objectstore.Version, err error) {
	_, o, err := d.object(u, false)
	if err != nil {
		return v, err
	}
	attrs, err := o.Attrs(ctx)
	if err != nil {
		return v, plain(err)
	}
	return objectstore.Version{Size: attrs.Size, Tag: generationTag + strconv.FormatInt(attrs.Generation, 10), Firm: true, Sum: attrs.Metadata[sumName]}, nil
}

// Read requests a range of a generation, as stored: compressed content stays compressed.
func (d *driver) Read(ctx context.Context, u *url.URL, v objectstore.Version, at, n int64) (objectstore.Body, error) {
	_, o, err := d.object(u, false)
	if err != nil {
		return nil, err
	}
	generation, err := generationOf(v)
	if err != nil {
		return nil, err
	}
	r, err := o.Generation(generation).ReadCompressed(true).NewRangeReader(ctx, at, n)
	if err != nil {
		return nil, answer.Changed(plain(err))
	}
	if r.Attrs.StartOffset != at || r.Attrs.Size != v.Size || r.Remain() != n {
		_ = r.Close()
		return nil, &objectstore.RetryableError{Err: fmt.Errorf("the service sends %d bytes at offset %d of %d, but %d at offset %d of %d were requested", r.Remain(), r.Attrs.StartOffset, r.Attrs.Size, n, at, v.Size)}
	}
	return r, nil
}

// List lists the objects in a directory.
func (d *driver) List(ctx context.Context, u *url.URL) iter.Seq2[*url.URL, error] {
	return func(yield func(*url.URL, error) bool) {
		bucket, _, err := d.object(u, false)
		if err != nil {
			yield(nil, err)
			return
		}
		all := bucket.Objects(ctx, &storage.Query{Prefix: strings.TrimPrefix(u.Path, "/"), Delimiter: "/", Projection: storage.ProjectionNoACL})
		for {
			o, err := all.Next()
			switch {
			case errors.Is(err, iterator.Done):
				return
			case err != nil:
				yield(nil, plain(err))
				return
			case o.Name == "" || strings.HasSuffix(o.Name, "/"): // a directory, or its marker
				continue
			}
			if !yield(&url.URL{Scheme: u.Scheme, Host: u.Host, Path: "/" + o.Name}, nil) {
				return
			}
		}
	}
}

// plain rewords an error of the service. It marks errors that a retry may fix.
func plain(err error) error {
	if errors.Is(err, storage.ErrBucketNotExist) {
		return answer.Missing("bucket")
	}
	if errors.Is(err, storage.ErrObjectNotExist) {
		return answer.Missing("object")
	}
	if failed, ok := errors.AsType[*googleapi.Error](err); ok {
		return answer.Status(failed.Code, failed.Header, access)
	}
	return answer.Lost(err)
}
