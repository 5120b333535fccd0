package s3

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"net/url"

	"github.com/minio/minio-go/v7"

	"github.com/larder-data/larder/place"
)

// plain says in words what a service said. What another try may cure is marked.
func plain(err error) error {
	if said, ok := errors.AsType[minio.ErrorResponse](err); ok {
		return status(said)
	}
	if e, ok := errors.AsType[*url.Error](err); ok {
		err = e.Err
	}
	if e, ok := errors.AsType[*net.DNSError](err); ok && e.IsNotFound {
		return err
	}
	if _, ok := errors.AsType[net.Error](err); ok {
		return &place.AgainError{Err: err}
	}
	return err
}

// status is the error of an answer.
func status(said minio.ErrorResponse) error {
	code := said.StatusCode
	switch {
	case said.Code == minio.PreconditionFailed || code == http.StatusPreconditionFailed:
		return place.ErrChanged
	case said.Code == minio.NoSuchBucket:
		return notThere("bucket", said)
	case code == http.StatusNotFound || said.Code == minio.NoSuchKey:
		return notThere("object", said)
	case code == http.StatusForbidden || code == http.StatusUnauthorized:
		return fmt.Errorf("the service says %q (%d); see that AWS_ACCESS_KEY_ID, AWS_PROFILE or the role may read the object, and that it is there", said.Code, code)
	case code == http.StatusTooManyRequests || code == http.StatusRequestTimeout || code >= 500:
		return &place.AgainError{Err: fmt.Errorf("the service says %q (%d)", said.Code, code), Busy: code == http.StatusTooManyRequests || code == http.StatusServiceUnavailable}
	}
	return fmt.Errorf("the service says %q (%d): %s", said.Code, code, said.Message)
}

func notThere(what string, said minio.ErrorResponse) error {
	return fmt.Errorf("there is no such %s (%s): %w", what, said.Code, fs.ErrNotExist)
}

// changed is the error of an object that was there before.
func changed(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return place.ErrChanged
	}
	return err
}
