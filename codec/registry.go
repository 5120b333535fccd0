package codec

import (
	"fmt"
	"slices"
	"strings"
	"sync"
)

var registry struct {
	sync.Mutex
	codecs []Codec
	frozen bool
}

func init() {
	codecs := append(imageCodecs(), Raw, textCodec, jsonCodec, yamlCodec, npyCodec, npzCodec, csvCodec)
	for _, c := range codecs {
		Register(c)
	}
}

// Register adds a codec. Call it from init functions: the first lookup freezes the
// registry, so that an extension keeps its meaning during the process. Register panics
// after that, and if a name or an extension is taken.
func Register(c Codec) {
	if err := add(c); err != nil {
		panic(err)
	}
}

func add(c Codec) error {
	registry.Lock()
	defer registry.Unlock()
	if registry.frozen {
		return fmt.Errorf("codec: %s: registered after the first use of the registry; register from an init function", c.Name)
	}
	if c.Name == "" || c.Version < 0 || c.Decode == nil || len(c.Extensions) == 0 {
		return fmt.Errorf("codec: %q: name, extension or Decode is missing", c.Name)
	}
	for _, ext := range c.Extensions {
		if ext == "" || ext[0] == '.' || ext != strings.ToLower(ext) || strings.ContainsAny(ext, `/\`) {
			return fmt.Errorf("codec: %s: extension %q must be lower case and without leading dot", c.Name, ext)
		}
	}
	for _, other := range registry.codecs {
		if other.Name == c.Name {
			return fmt.Errorf("codec: %s: the name is already registered", c.Name)
		}
		for _, ext := range c.Extensions {
			if slices.Contains(other.Extensions, ext) {
				return fmt.Errorf("codec: %s: extension %q is already registered by %s", c.Name, ext, other.Name)
			}
		}
	}
	if c.Encode == nil {
		c.ReadOnly = true
		c.Encode = func(any) ([]byte, error) { return nil, fmt.Errorf("%w: %s", ErrReadOnly, c.Name) }
	}
	registry.codecs = append(registry.codecs, c)
	return nil
}

// byExtension freezes the registry.
var byExtension = sync.OnceValue(func() map[string]Codec {
	registry.Lock()
	defer registry.Unlock()
	registry.frozen = true
	m := make(map[string]Codec)
	for _, c := range registry.codecs {
		for _, ext := range c.Extensions {
			m[ext] = c
		}
	}
	return m
})

// ByExtension returns the codec for files with the given extension, in any case, with or
// without its dot. For unknown extensions it returns [Raw] and false, so that files of any
// kind can be passed as bytes.
func ByExtension(ext string) (Codec, bool) {
	m := byExtension()
	if c, ok := m[ext]; ok {
		return c, true
	}
	if c, ok := m[strings.ToLower(strings.TrimPrefix(ext, "."))]; ok {
		return c, true
	}
	return Raw, false
}

// All returns the registered codecs, ordered by name.
func All() []Codec {
	byExtension()
	registry.Lock()
	defer registry.Unlock()
	return slices.SortedFunc(slices.Values(registry.codecs), func(a, b Codec) int { return strings.Compare(a.Name, b.Name) })
}
