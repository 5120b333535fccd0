// Package s3 reads and writes objects of S3 and compatible services, at s3://BUCKET/KEY. A
// program that imports it accepts such URLs where it reads and writes files: see package
// objectstore.
//
// Credentials are found as AWS's tools find them: AWS_ACCESS_KEY_ID and
// AWS_SECRET_ACCESS_KEY (with AWS_SESSION_TOKEN), the profile AWS_PROFILE of ~/.aws, the
// role of the machine or container. Without any, requests are anonymous, for public data.
// AWS_ENDPOINT_URL_S3 or AWS_ENDPOINT_URL names the service, AWS_REGION or
// AWS_DEFAULT_REGION the region.
package s3

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"net/url"
	"strings"

	"github.com/minio/minio-go/v7"

	"github.com/larder-data/larder/objectstore"
)

func init() { objectstore.Register("s3", &driver{}) }

// A driver implements [objectstore.PartPutter].
type driver struct{ clients clients }

// object returns the parts of a URL.
func object(u *url.URL) (bucket, key, version string, err error) {
	if u.User != nil {
		return "", "", "", errors.New("a URL of s3 has no user; set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE")
	}
	q := u.Query()
	version = q.Get("versionId")
	q.Del("versionId")
	if len(q) > 0 || u.ForceQuery {
		return "", "", "", errors.New("a URL of s3 has no parameters but versionId; write %3F for a question mark in a key")
	}
	return u.Host, strings.TrimPrefix(u.Path, "/"), version, nil
}

// Stat looks up an object.
func (d *driver) Stat(ctx context.Context, u *url.URL) (v objectstore.Version, err error) {
	bucket, key, version, err := object(u)
	if err != nil {
		return v, err
	}
	c, err := d.clients.get()
	if err != nil {
		return v, err
	}
	info, err := c.StatObject(ctx, bucket, key, minio.StatObjectOptions{VersionID: version})
	if err != nil {
		return v, plain(err)
	}
	if info.ETag == "" {
		return v, errors.New("the service sends no ETag, so changes cannot be detected")
	}
	return objectstore.Version{Size: info.Size, Tag: tagOf(info), Firm: true, Sum: info.UserMetadata[sumName]}, nil
}

const (
	etagTag    = "etag "
	versionTag = " version "
)

// tagOf returns the tag of a version: the ETag, and in a bucket that keeps old versions the
// version itself.
func tagOf(info minio.ObjectInfo) string {
	tag := etagTag + info.ETag
	if info.VersionID != "" && info.VersionID != "null" {
		tag += versionTag + info.VersionID
	}
	return tag
}

// Read requests a range of a version.
func (d *driver) Read(ctx context.Context, u *url.URL, v objectstore.Version, at, n int64) (objectstore.Body, error) {
	bucket, key, asked, err := object(u)
	if err != nil {
		return nil, err
	}
	c, err := d.clients.get()
	if err != nil {
		return nil, err
	}
	etag, version, _ := strings.Cut(strings.TrimPrefix(v.Tag, etagTag), versionTag)
	if version == "" {
		version = asked
	}
	o := minio.GetObjectOptions{VersionID: version}
	if err := errors.Join(o.SetRange(at, at+n-1), o.SetMatchETag(etag)); err != nil {
		return nil, err
	}
	body, info, head, err := c.GetObject(ctx, bucket, key, o)
	if err != nil {
		return nil, changed(plain(err))
	}
	if err := held(info, head, etag, at, n, v.Size); err != nil {
		_ = body.Close()
		return nil, err
	}
	return body, nil
}

// held checks an answer against the request.
func held(info minio.ObjectInfo, head http.Header, etag string, at, n, size int64) error {
	if info.ETag != etag {
		return objectstore.ErrChanged
	}
	if got, want := head.Get("Content-Range"), fmt.Sprintf("bytes %d-%d/%d", at, at+n-1, size); got != want {
		return &objectstore.RetryableError{Err: fmt.Errorf("the service sends %q, but %q was requested", got[:min(len(got), 80)], want)}
	}
	return nil
}

// List lists the objects in a directory.
func (d *driver) List(ctx context.Context, u *url.URL) iter.Seq2[*url.URL, error] {
	return func(yield func(*url.URL, error) bool) {
		bucket, prefix, _, err := object(u)
		if err != nil {
			yield(nil, err)
			return
		}
		c, err := d.clients.get()
		if err != nil {
			yield(nil, err)
			return
		}
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		for o := range c.ListObjectsIter(ctx, bucket, minio.ListObjectsOptions{Prefix: prefix}) {
			if o.Err != nil {
				yield(nil, plain(o.Err))
				return
			}
			if strings.HasSuffix(o.Key, "/") { // a directory, or its marker
				continue
			}
			if !yield(&url.URL{Scheme: u.Scheme, Host: u.Host, Path: "/" + o.Key}, nil) {
				return
			}
		}
	}
}
