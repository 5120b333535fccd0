package gs

import (
	"context"
	"errors"
	"hash/crc32"
	"io"
	"net/url"
	"strconv"
	"strings"

	"cloud.google.com/go/storage"

	"github.com/larder-data/larder/objectstore"
	"github.com/larder-data/larder/objectstore/cloud/internal/answer"
)

var _ objectstore.Putter = (*driver)(nil)

// sumName is the name of the SHA-256 of the content in an object's metadata.
const sumName = "larder-sha256"

// CheckPut refuses URLs that cannot name an object.
func (d *driver) CheckPut(u *url.URL) error {
	if err := check(u); err != nil {
		return err
	}
	if key := strings.TrimPrefix(u.Path, "/"); key == "" || strings.HasSuffix(key, "/") {
		return errors.New("it names a directory, where an object is needed")
	}
	return nil
}

// chunkBytes is how much of a large object one request sends. Google's client retries each
// itself.
const chunkBytes = 16 << 20

// Put writes an object, whose checksum the service verifies.
func (d *driver) Put(ctx context.Context, u *url.URL, body io.ReadSeeker, content objectstore.Content, was *objectstore.Version) error {
	_, o, err := d.object(u, true)
	if err != nil {
		return err
	}
	only := storage.Conditions{DoesNotExist: was == nil}
	if was != nil {
		if only.GenerationMatch, err = generationOf(*was); err != nil {
			return err
		}
	}
	sum := crc32.New(crc32.MakeTable(crc32.Castagnoli))
	if _, err := io.Copy(sum, body); err != nil {
		return err
	}
	if _, err := body.Seek(0, io.SeekStart); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	w := o.If(only).NewWriter(ctx)
	w.ChunkSize = 0 // in one request
	if content.Size > chunkBytes {
		w.ChunkSize = chunkBytes
	}
	w.ContentType = "application/octet-stream"
	w.Metadata = map[string]string{sumName: content.Sum}
	w.CRC32C, w.SendCRC32C = sum.Sum32(), true
	if _, err = io.Copy(w, body); err != nil {
		cancel() // otherwise the bytes sent would become the object
	}
	if cerr := w.Close(); err == nil || cerr != nil {
		err = cerr // contains the message of the service
	}
	return written(err, was)
}

// written converts the error of a write.
func written(err error, was *objectstore.Version) error {
	if err == nil {
		return nil
	}
	if err = plain(err); was != nil {
		return answer.Changed(err) // the old object is gone
	}
	return err
}

// Delete removes an object. A bucket that keeps old generations keeps it as one of these.
func (d *driver) Delete(ctx context.Context, u *url.URL, was objectstore.Version) error {
	_, o, err := d.object(u, true)
	if err != nil {
		return err
	}
	generation, err := generationOf(was)
	if err != nil {
		return err
	}
	return written(o.If(storage.Conditions{GenerationMatch: generation}).Delete(ctx), nil)
}

// generationOf returns the generation of a version.
func generationOf(v objectstore.Version) (int64, error) {
	n, err := strconv.ParseInt(strings.TrimPrefix(v.Tag, generationTag), 10, 64)
	if err != nil {
		return 0, errors.New("the version " + strconv.Quote(v.Tag) + " is not a generation")
	}
	return n, nil
}
