//go:build !linux || !(amd64 || arm64) || larder_static

package native

import (
	"errors"

	"github.com/larder-data/larder/codec"
)

var errNone = errors.New("native: this program was built without the native library")

func openWebP() (codec.Library, error) { return codec.Library{}, errNone }
