package az

import (
	"context"
	"crypto/md5"
	"crypto/rand"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/streaming"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blockblob"

	"github.com/larder-data/larder/objectstore"
	"github.com/larder-data/larder/objectstore/cloud/internal/answer"
)

var _ objectstore.PartPutter = (*driver)(nil)

// sumName is the name of the SHA-256 of the content in a blob's metadata. It must be an
// identifier; the service does not preserve its case.
const sumName = "larder_sha256"

// sumOf returns the stored SHA-256 of a blob, "" for none.
func sumOf(metadata map[string]*string) string {
	for name, value := range metadata {
		if strings.EqualFold(name, sumName) && value != nil {
			return *value
		}
	}
	return ""
}

// CheckPut refuses URLs that cannot name a blob.
func (d *driver) CheckPut(u *url.URL) error {
	if err := check(u); err != nil {
		return err
	}
	if key := strings.TrimPrefix(u.Path, "/"); key == "" || strings.HasSuffix(key, "/") {
		return errors.New("it names a directory, where a blob is needed")
	}
	return nil
}

// onlyIf makes a request conditional on the version was, or on no blob if it is nil.
func onlyIf(was *objectstore.Version) *blob.AccessConditions {
	if was == nil {
		all := azcore.ETagAny
		return &blob.AccessConditions{ModifiedAccessConditions: &blob.ModifiedAccessConditions{IfNoneMatch: &all}}
	}
	etag := azcore.ETag(strings.TrimPrefix(was.Tag, etagTag))
	return &blob.AccessConditions{ModifiedAccessConditions: &blob.ModifiedAccessConditions{IfMatch: &etag}}
}

// target returns the blob to write.
func (d *driver) target(u *url.URL) (*blockblob.Client, error) {
	c, key, err := d.container(u)
	if err != nil {
		return nil, err
	}
	return c.NewBlockBlobClient(key), nil
}

// checked returns the MD5 of a body, which the service verifies.
func checked(body io.ReadSeeker) (blob.TransferValidationTypeMD5, error) {
	sum := md5.New()
	if _, err := io.Copy(sum, body); err != nil {
		return nil, err
	}
	_, err := body.Seek(0, io.SeekStart)
	return sum.Sum(nil), err
}

// Put writes a blob in one request; the service verifies its digest.
func (d *driver) Put(ctx context.Context, u *url.URL, body io.ReadSeeker, content objectstore.Content, was *objectstore.Version) error {
	c, err := d.target(u)
	if err != nil {
		return err
	}
	sum, err := checked(body)
	if err != nil {
		return err
	}
	_, err = c.Upload(ctx, streaming.NopCloser(body), &blockblob.UploadOptions{
		Metadata: map[string]*string{sumName: &content.Sum}, TransactionalValidation: sum, AccessConditions: onlyIf(was),
	})
	return written(err, was)
}

// written converts the error of a write.
func written(err error, was *objectstore.Version) error {
	if err == nil {
		return nil
	}
	if failed, ok := errors.AsType[*azcore.ResponseError](err); ok && failed.StatusCode == http.StatusConflict && failed.ErrorCode == "BlobAlreadyExists" {
		return objectstore.ErrChanged
	}
	if err = plain(err); was != nil {
		return answer.Changed(err) // the old blob is gone
	}
	return err
}

// Delete removes a blob.
func (d *driver) Delete(ctx context.Context, u *url.URL, was objectstore.Version) error {
	c, err := d.target(u)
	if err != nil {
		return err
	}
	_, err = c.Delete(ctx, &blob.DeleteOptions{AccessConditions: onlyIf(&was)})
	return written(err, nil)
}

// Begin starts a blob of blocks. It sends no request.
func (d *driver) Begin(_ context.Context, u *url.URL, content objectstore.Content) (objectstore.Parts, error) {
	c, err := d.target(u)
	if err != nil {
		return nil, err
	}
	// Writers of one blob have separate blocks, even if they write the same content.
	var own [8]byte
	if _, err := rand.Read(own[:]); err != nil {
		return nil, err
	}
	return &blocks{c, content.Sum, hex.EncodeToString(own[:])}, nil
}

// blocks are the parts of a blob.
type blocks struct {
	to       *blockblob.Client
	sum, own string
}

// id returns the ID of a block.
func (b *blocks) id(n int) string {
	return base64.StdEncoding.EncodeToString(fmt.Appendf(nil, "%s-%06d", b.own, n))
}

// Put sends a block.
func (b *blocks) Put(ctx context.Context, n int, body io.ReadSeeker, _ int64) error {
	sum, err := checked(body)
	if err != nil {
		return err
	}
	_, err = b.to.StageBlock(ctx, b.id(n), streaming.NopCloser(body), &blockblob.StageBlockOptions{TransactionalValidation: sum})
	return written(err, nil)
}

// End makes the blob appear.
func (b *blocks) End(ctx context.Context, n int, was *objectstore.Version) error {
	all := make([]string, n)
	for i := range all {
		all[i] = b.id(i + 1)
	}
	_, err := b.to.CommitBlockList(ctx, all, &blockblob.CommitBlockListOptions{
		Metadata: map[string]*string{sumName: &b.sum}, AccessConditions: onlyIf(was),
	})
	return written(err, was)
}

// Abort leaves the blocks to the service, which removes them after a week, or when the blob
// is written: there is no request for it.
func (b *blocks) Abort(context.Context) error { return nil }
