// Package az reads and writes blobs of Azure Storage, at az://CONTAINER/KEY. A program that
// imports it accepts such URLs where it reads and writes files: see package objectstore.
//
// AZURE_STORAGE_CONNECTION_STRING has all settings. Without it, AZURE_STORAGE_ACCOUNT names
// the account, AZURE_STORAGE_KEY or AZURE_STORAGE_SAS_TOKEN has the credentials, and
// AZURE_STORAGE_SERVICE_ENDPOINT names another service. Without key and token, Azure's
// default chain finds credentials: variables of a service principal, the workload, the
// machine, az login. AZURE_STORAGE_ANON=true makes requests anonymous, for public data.
//
// A version is an ETag.
package az

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"net/url"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azidentity"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"

	"github.com/larder-data/larder/objectstore"
	"github.com/larder-data/larder/objectstore/cloud/internal/answer"
)

func init() { objectstore.Register("az", &driver{}) }

// A driver implements [objectstore.PartPutter].
type driver struct{ clients clients }

const (
	etagTag = "etag "
	access  = "AZURE_STORAGE_CONNECTION_STRING, AZURE_STORAGE_KEY, AZURE_STORAGE_SAS_TOKEN or the user of az login"
)

// check refuses parts of a URL that are not supported.
func check(u *url.URL) error {
	if u.User != nil || u.RawQuery != "" || u.ForceQuery {
		return errors.New("a URL of az has no user and no parameters; set AZURE_STORAGE_ACCOUNT with AZURE_STORAGE_SAS_TOKEN, and write %3F for a question mark in a key")
	}
	return nil
}

// container returns the container at a URL, and the key of a blob in it.
func (d *driver) container(u *url.URL) (*container.Client, string, error) {
	if err := check(u); err != nil {
		return nil, "", err
	}
	c, err := d.clients.get()
	if err != nil {
		return nil, "", err
	}
	return c.ServiceClient().NewContainerClient(u.Host), strings.TrimPrefix(u.Path, "/"), nil
}

// Stat looks up a blob.
func (d *driver) Stat(ctx context.Context, u *url.URL) (v objectstore.Version, err error) {
	c, key, err := d.container(u)
	if err != nil {
		return v, err
	}
	properties, err := c.NewBlobClient(key).GetProperties(ctx, nil)
	if err != nil {
		return v, plain(err)
	}
	if properties.ETag == nil || properties.ContentLength == nil {
		return v, errors.New("the service sends no ETag or no size, so changes cannot be detected")
	}
	return objectstore.Version{Size: *properties.ContentLength, Tag: etagTag + string(*properties.ETag), Firm: true, Sum: sumOf(properties.Metadata)}, nil
}

// Read requests a range of a version.
func (d *driver) Read(ctx context.Context, u *url.URL, v objectstore.Version, at, n int64) (objectstore.Body, error) {
	c, key, err := d.container(u)
	if err != nil {
		return nil, err
	}
	etag := azcore.ETag(strings.TrimPrefix(v.Tag, etagTag))
	response, err := c.NewBlobClient(key).DownloadStream(ctx, &blob.DownloadStreamOptions{
		Range:            blob.HTTPRange{Offset: at, Count: n},
		AccessConditions: &blob.AccessConditions{ModifiedAccessConditions: &blob.ModifiedAccessConditions{IfMatch: &etag}},
	})
	if err != nil {
		return nil, answer.Changed(plain(err))
	}
	if err := held(response, etag, at, n, v.Size); err != nil {
		_ = response.Body.Close()
		return nil, err
	}
	return response.Body, nil
}

// held checks an answer against the request.
func held(response blob.DownloadStreamResponse, etag azcore.ETag, at, n, size int64) error {
	if response.ETag == nil || *response.ETag != etag {
		return objectstore.ErrChanged
	}
	got := ""
	if response.ContentRange != nil {
		got = *response.ContentRange
	}
	if want := fmt.Sprintf("bytes %d-%d/%d", at, at+n-1, size); got != want {
		return &objectstore.RetryableError{Err: fmt.Errorf("the service sends %q, but %q was requested", got[:min(len(got), 80)], want)}
	}
	return nil
}

// List lists the blobs in a directory.
func (d *driver) List(ctx context.Context, u *url.URL) iter.Seq2[*url.URL, error] {
	return func(yield func(*url.URL, error) bool) {
		c, prefix, err := d.container(u)
		if err != nil {
			yield(nil, err)
			return
		}
		pages := c.NewListBlobsHierarchyPager("/", &container.ListBlobsHierarchyOptions{Prefix: &prefix})
		for pages.More() {
			page, err := pages.NextPage(ctx)
			if err != nil {
				yield(nil, plain(err))
				return
			}
			if page.Segment == nil {
				continue
			}
			for _, b := range page.Segment.BlobItems {
				if b.Name == nil || strings.HasSuffix(*b.Name, "/") { // the marker of a directory
					continue
				}
				if !yield(&url.URL{Scheme: u.Scheme, Host: u.Host, Path: "/" + *b.Name}, nil) {
					return
				}
			}
		}
	}
}

// plain rewords an error of the service. It marks errors that a retry may fix.
func plain(err error) error {
	if failed, ok := errors.AsType[*azcore.ResponseError](err); ok {
		if failed.RawResponse == nil {
			return answer.Status(failed.StatusCode, nil, access)
		}
		return answer.Status(failed.StatusCode, failed.RawResponse.Header, access)
	}
	if _, ok := errors.AsType[*azidentity.AuthenticationFailedError](err); ok || strings.HasPrefix(err.Error(), "DefaultAzureCredential") {
		return fmt.Errorf("no credentials found; set %s (AZURE_STORAGE_ANON=true for public data)", access)
	}
	return answer.Lost(err)
}
