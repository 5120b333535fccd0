//go:build !(linux || darwin || windows) || !(amd64 || arm64) || larder_static

package native

import "github.com/larder-data/larder/codec"

func openTurbo() (codec.Library, error) { return codec.Library{}, errNone }
