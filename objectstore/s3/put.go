package s3

import (
	"context"
	"crypto/md5"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"

	"github.com/minio/minio-go/v7"

	"github.com/larder-data/larder/objectstore"
)

var _ objectstore.PartPutter = (*driver)(nil)

// sumName is the name of the SHA-256 of the content in an object's metadata.
const sumName = "Larder-Sha256"

// CheckPut refuses URLs that cannot name an object, or that name an old version.
func (d *driver) CheckPut(u *url.URL) error {
	_, key, version, err := object(u)
	switch {
	case err != nil:
		return err
	case key == "" || strings.HasSuffix(key, "/"):
		return errors.New("it names a directory, where an object is needed")
	case version != "":
		return errors.New("an old version of an object is not written; leave out versionId")
	}
	return nil
}

// target returns the object to write.
func (d *driver) target(u *url.URL) (c *minio.Core, bucket, key string, err error) {
	if err := d.CheckPut(u); err != nil {
		return nil, "", "", err
	}
	if bucket, key, _, err = object(u); err != nil {
		return nil, "", "", err
	}
	c, err = d.clients.get()
	return c, bucket, key, err
}

// onlyIf makes a request conditional on the version was, or on no object if it is nil.
func onlyIf(o *minio.PutObjectOptions, was *objectstore.Version) {
	if was == nil {
		o.SetMatchETagExcept("*")
		return
	}
	o.SetMatchETag(etagOf(*was))
}

// etagOf returns the ETag of a version.
func etagOf(v objectstore.Version) string {
	etag, _, _ := strings.Cut(strings.TrimPrefix(v.Tag, etagTag), versionTag)
	return etag
}

// Put writes an object in one request. The service verifies its digest twice: in the
// signature, and as a checksum that it stores.
func (d *driver) Put(ctx context.Context, u *url.URL, body io.ReadSeeker, content objectstore.Content, was *objectstore.Version) error {
	c, bucket, key, err := d.target(u)
	if err != nil {
		return err
	}
	sum, err := hex.DecodeString(content.Sum)
	if err != nil {
		return fmt.Errorf("%q is not a SHA-256", content.Sum)
	}
	o := minio.PutObjectOptions{
		UserMetadata:         map[string]string{sumName: content.Sum, "x-amz-checksum-sha256": base64.StdEncoding.EncodeToString(sum)},
		DisableContentSha256: true, // of pieces, because the digest of the whole is known
	}
	onlyIf(&o, was)
	_, err = c.PutObject(ctx, bucket, key, body, content.Size, "", content.Sum, o)
	return written(err, was)
}

// written converts the error of a write.
func written(err error, was *objectstore.Version) error {
	if err == nil {
		return nil
	}
	if said, ok := errors.AsType[minio.ErrorResponse](err); ok && (said.StatusCode == http.StatusForbidden || said.StatusCode == http.StatusUnauthorized) {
		return fmt.Errorf("the service returned %q (%d); check that AWS_ACCESS_KEY_ID, AWS_PROFILE or the role may write the object", said.Code, said.StatusCode)
	}
	if err = plain(err); was != nil {
		return changed(err) // the old object is gone
	}
	return err
}

// Delete removes an object. A bucket that keeps old versions keeps it as one of these.
func (d *driver) Delete(ctx context.Context, u *url.URL, was objectstore.Version) error {
	c, bucket, key, err := d.target(u)
	if err != nil {
		return err
	}
	err = c.RemoveObject(context.WithValue(ctx, matching{}, etagOf(was)), bucket, key, minio.RemoveObjectOptions{})
	if err != nil {
		return written(err, nil)
	}
	return nil
}

// matching is the context key of the ETag that a removal requires, for which the client has
// no option.
type matching struct{}

// conditional adds that ETag to requests.
type conditional struct{ http.RoundTripper }

// RoundTrip implements http.RoundTripper.
func (c conditional) RoundTrip(r *http.Request) (*http.Response, error) {
	if etag, ok := r.Context().Value(matching{}).(string); ok && r.Method == http.MethodDelete {
		r = r.Clone(r.Context())
		r.Header.Set("If-Match", `"`+etag+`"`)
	}
	return c.RoundTripper.RoundTrip(r)
}

// Begin starts an object of parts.
func (d *driver) Begin(ctx context.Context, u *url.URL, content objectstore.Content) (objectstore.Parts, error) {
	c, bucket, key, err := d.target(u)
	if err != nil {
		return nil, err
	}
	id, err := c.NewMultipartUpload(ctx, bucket, key, minio.PutObjectOptions{UserMetadata: map[string]string{sumName: content.Sum}})
	if err != nil {
		return nil, written(err, nil)
	}
	return &parts{client: c, bucket: bucket, key: key, id: id, sent: map[int]string{}}, nil
}

// parts are the parts of an object that is being written.
type parts struct {
	client          *minio.Core
	bucket, key, id string

	mu   sync.Mutex
	sent map[int]string // their ETags
}

// Put sends a part; the service verifies digests.
func (p *parts) Put(ctx context.Context, n int, body io.ReadSeeker, size int64) error {
	short, long := md5.New(), sha256.New() // a service verifies one of them, or both
	if _, err := io.Copy(io.MultiWriter(short, long), body); err != nil {
		return err
	}
	if _, err := body.Seek(0, io.SeekStart); err != nil {
		return err
	}
	sent, err := p.client.PutObjectPart(ctx, p.bucket, p.key, p.id, n, body, size, minio.PutObjectPartOptions{
		Md5Base64: base64.StdEncoding.EncodeToString(short.Sum(nil)), Sha256Hex: hex.EncodeToString(long.Sum(nil)),
		DisableContentSha256: true, // of pieces
	})
	if err != nil {
		return gone(written(err, nil))
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.sent[n] = sent.ETag
	return nil
}

// End makes the object appear.
func (p *parts) End(ctx context.Context, n int, was *objectstore.Version) error {
	p.mu.Lock()
	all := make([]minio.CompletePart, 0, n)
	for i, etag := range p.sent {
		all = append(all, minio.CompletePart{PartNumber: i, ETag: etag})
	}
	p.mu.Unlock()
	slices.SortFunc(all, func(a, b minio.CompletePart) int { return a.PartNumber - b.PartNumber })
	if len(all) != n {
		return fmt.Errorf("%d of %d parts were sent", len(all), n)
	}
	var o minio.PutObjectOptions
	onlyIf(&o, was)
	_, err := p.client.CompleteMultipartUpload(ctx, p.bucket, p.key, p.id, all, o)
	if response, ok := errors.AsType[minio.ErrorResponse](err); ok && response.Code == minio.NoSuchUpload {
		return gone(plain(err))
	}
	return written(err, was)
}

// gone converts the error of parts that the service no longer has.
func gone(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("the service has lost the parts that were sent; run again: %w", err)
	}
	return err
}

// Abort removes the parts.
func (p *parts) Abort(ctx context.Context) error {
	err := written(p.client.AbortMultipartUpload(ctx, p.bucket, p.key, p.id), nil)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
