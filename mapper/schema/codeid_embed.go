package schema

import (
	"embed"

	"github.com/larder-data/larder/codeid"
)

//go:embed *.go
var files embed.FS

var _ = codeid.Register(files, codeid.Options{Pure: []string{"go.yaml.in/yaml/...", "github.com/santhosh-tekuri/jsonschema/..."}})
