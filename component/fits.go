package component

import (
	"context"
	"errors"

	"github.com/larder-data/larder/dataset"
)

// ErrUnfit marks errors of a sink that cannot store its input.
var ErrUnfit = errors.New("the sink cannot store the value")

// Unfit marks an error as an ErrUnfit.
func Unfit(err error) error { return unfit{err} }

type unfit struct{ error }

func (u unfit) Unwrap() []error { return []error{u.error, ErrUnfit} }

// A Fitter is a parameter struct of a sink that can check beforehand whether it can
// store a sample. For items that are not cheap it checks names and origins but not
// values. The error for what it cannot store is an [ErrUnfit].
type Fitter interface {
	Fits(ctx context.Context, env *Env, s dataset.Sample, cheap func(f dataset.Field) bool) error
}
