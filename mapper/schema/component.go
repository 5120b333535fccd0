package schema

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/larder-data/larder/component"
	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/key"
)

func init() {
	component.RegisterMapper("validate", "Checks samples against a schema; a violation is an error that names the sample and the problem.",
		func(env *component.Env, p Guard) (dataset.Mapper, error) {
			file := env.Path(p.Schema)
			content, err := os.ReadFile(file)
			if err != nil {
				return nil, fmt.Errorf("schema: %w", err)
			}
			return newGuard(file, content)
		})
}

// Guard names the schema that samples must fulfil.
type Guard struct {
	Schema component.Path `param:"schema,required" doc:"a YAML file, such as larder validate --infer writes"`
}

// newGuard returns a mapper that passes on samples that fulfil the schema in the
// content of a YAML file. Where results are cached, the fact that a sample is valid is
// cached, too.
func newGuard(file string, content []byte) (dataset.Transform, error) {
	s, err := Parse(file, content)
	if err != nil {
		return nil, err
	}
	return dataset.NewTransform(dataset.TransformFunc{
		Name: "validate", Formats: []string{}, Params: []key.Param{{Name: "schema", Value: string(content)}},
		Pure: []string{"github.com/larder-data/larder/mapper/schema.s"}, // which Check only reads
		Func: func(ctx context.Context, in dataset.Sample) (dataset.Sample, error) {
			found, err := s.Check(ctx, 0, in)
			if err != nil || len(found) == 0 {
				return in, err
			}
			return dataset.Sample{}, describe(found)
		},
	})
}

// describe describes the violations of one sample, without its name.
func describe(found []Violation) error {
	const few = 5
	texts := make([]string, 0, few+1)
	for _, v := range found[:min(few, len(found))] {
		_, text, _ := strings.Cut(v.String(), ": ")
		texts = append(texts, text)
	}
	if len(found) > few {
		texts = append(texts, fmt.Sprintf("and %d more", len(found)-few))
	}
	return errors.New("violates the schema: " + strings.Join(texts, "; "))
}
