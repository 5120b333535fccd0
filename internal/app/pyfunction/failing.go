package pyfunction

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/internal/app/python"
)

// A Failing says what failed: the function, its worker, or what is needed for it.
type Failing struct{ Function, Timeout, Interpreter string }

// Why returns an error of a worker in the words of a flow's author.
func (f Failing) Why(err error) error {
	died := (*python.DiedError)(nil)
	switch {
	case errors.Is(err, context.Canceled) || errors.Is(err, dataset.ErrChanged):
		return err
	case errors.Is(err, python.ErrTimeout):
		stderr := strings.TrimPrefix(err.Error(), python.ErrTimeout.Error())
		return fmt.Errorf("%s took longer than the timeout of %s, and its worker was ended%s", f.Function, f.Timeout, stderr)
	case errors.As(err, &died) && strings.Contains(died.Stderr, "No module named") && strings.Contains(died.Stderr, "larder"):
		return fmt.Errorf("%s cannot import larder: install the package for it, as by %s -m pip install larder, or name another interpreter in LARDER_PYTHON%s", f.Interpreter, f.Interpreter, died.Stderr)
	}
	return fmt.Errorf("%s: %w", f.Function, err)
}
