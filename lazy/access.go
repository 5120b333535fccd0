package lazy

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"reflect"

	"github.com/larder-data/larder/internal/codeid/analysis"
	"github.com/larder-data/larder/key"
)

// Field returns a field of a lazy struct, or of a struct behind a pointer.
func Field[T, S any](v Value[S], name string) Value[T] {
	fn := newBuiltin("lazy.Field", func(_ context.Context, _ *evaluator, args []any) (T, error) {
		var zero T
		s := reflect.ValueOf(args[0])
		if s.Kind() == reflect.Pointer {
			if s.IsNil() {
				return zero, fmt.Errorf("field %s of a nil pointer", name)
			}
			s = s.Elem()
		}
		return as[T](s.FieldByName(name).Interface()), nil
	}, key.Param{Name: "field", Value: name}, key.Param{Name: "of", Value: analysis.TypeText(reflect.TypeFor[S]())})
	n := fn.apply(v.node())
	n.err = cmpErr(n.err, checkField(reflect.TypeFor[S](), name, reflect.TypeFor[T]()))
	return Value[T]{n}
}

func cmpErr(a, b error) error {
	if a != nil {
		return a
	}
	return b
}

func checkField(s reflect.Type, name string, want reflect.Type) error {
	if s.Kind() == reflect.Pointer {
		s = s.Elem()
	}
	if s.Kind() != reflect.Struct {
		return fmt.Errorf("lazy: field %s of a %v: not a struct", name, s)
	}
	f, ok := s.FieldByName(name)
	if !ok || !f.IsExported() {
		return fmt.Errorf("lazy: %v has no exported field %s", s, name)
	}
	if f.Type != want {
		return fmt.Errorf("lazy: field %s of %v is a %v, not %v", name, s, f.Type, want)
	}
	return nil
}

// Index returns an element of a lazy slice; a negative i counts from its end. An index
// out of range is an error.
func Index[T any](v Value[[]T], i Value[int]) Value[T] {
	fn := newBuiltin("lazy.Index", func(_ context.Context, _ *evaluator, args []any) (T, error) {
		list, i := as[[]T](args[0]), as[int](args[1])
		at := i
		if at < 0 {
			at += len(list)
		}
		if at < 0 || at >= len(list) {
			var zero T
			return zero, fmt.Errorf("index %d of %d elements", i, len(list))
		}
		return list[at], nil
	})
	return Value[T]{fn.apply(v.node(), i.node())}
}

// At returns the element of a lazy map under a key. A missing key is an error.
func At[K comparable, T any](v Value[map[K]T], k Value[K]) Value[T] {
	fn := newBuiltin("lazy.At", func(_ context.Context, _ *evaluator, args []any) (T, error) {
		k := as[K](args[1])
		e, ok := as[map[K]T](args[0])[k]
		if !ok {
			return e, fmt.Errorf("the map has no %v", k)
		}
		return e, nil
	})
	return Value[T]{fn.apply(v.node(), k.node())}
}

// Len returns the length of a lazy slice.
func Len[T any](v Value[[]T]) Value[int] {
	return unary("lazy.Len", func(list []T) (int, error) { return len(list), nil }, v)
}

// Number is the set of types with arithmetic.
type Number interface {
	~int | ~int8 | ~int16 | ~int32 | ~int64 | ~uint | ~uint8 | ~uint16 | ~uint32 | ~uint64 | ~float32 | ~float64
}

// Add returns a + b.
func Add[T Number](a, b Value[T]) Value[T] {
	return binary("lazy.Add", func(a, b T) (T, error) { return a + b, nil }, a, b)
}

// Sub returns a - b.
func Sub[T Number](a, b Value[T]) Value[T] {
	return binary("lazy.Sub", func(a, b T) (T, error) { return a - b, nil }, a, b)
}

// Mul returns a * b.
func Mul[T Number](a, b Value[T]) Value[T] {
	return binary("lazy.Mul", func(a, b T) (T, error) { return a * b, nil }, a, b)
}

// Div returns a / b. Division of an integer by zero is an error.
func Div[T Number](a, b Value[T]) Value[T] {
	return binary("lazy.Div", func(a, b T) (T, error) {
		if isInteger[T]() && b == 0 {
			return 0, errors.New("division by zero")
		}
		return a / b, nil
	}, a, b)
}

func isInteger[T Number]() bool {
	half := 0.5
	return T(half) == 0
}

// Neg returns -a.
func Neg[T Number](a Value[T]) Value[T] {
	return unary("lazy.Neg", func(a T) (T, error) { return -a, nil }, a)
}

// Less returns a < b.
func Less[T cmp.Ordered](a, b Value[T]) Value[bool] {
	return binary("lazy.Less", func(a, b T) (bool, error) { return a < b, nil }, a, b)
}

// Equal returns a == b.
func Equal[T comparable](a, b Value[T]) Value[bool] {
	return binary("lazy.Equal", func(a, b T) (bool, error) { return a == b, nil }, a, b)
}

// Not returns !a.
func Not(a Value[bool]) Value[bool] {
	return unary("lazy.Not", func(a bool) (bool, error) { return !a, nil }, a)
}

func unary[A, R any](name string, f func(A) (R, error), a Value[A]) Value[R] {
	fn := newBuiltin(name, func(_ context.Context, _ *evaluator, v []any) (R, error) { return f(as[A](v[0])) },
		key.Param{Name: "type", Value: analysis.TypeText(reflect.TypeFor[A]())})
	return Value[R]{fn.apply(a.node())}
}

func binary[A, R any](name string, f func(A, A) (R, error), a, b Value[A]) Value[R] {
	fn := newBuiltin(name, func(_ context.Context, _ *evaluator, v []any) (R, error) { return f(as[A](v[0]), as[A](v[1])) },
		key.Param{Name: "type", Value: analysis.TypeText(reflect.TypeFor[A]())})
	return Value[R]{fn.apply(a.node(), b.node())}
}
