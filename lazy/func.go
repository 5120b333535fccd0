package lazy

import "context"

// Func0 returns a lazy function that calls f. It takes at most one Options.
func Func0[R any](name string, f func(context.Context) (R, error), o ...Options) func() Value[R] {
	fn := newFunction(name, f, o, func(ctx context.Context, _ []any) (R, error) { return f(ctx) })
	return func() Value[R] { return Value[R]{fn.apply()} }
}

// Func1 returns a lazy function that calls f. It takes at most one Options.
func Func1[A, R any](name string, f func(context.Context, A) (R, error), o ...Options) func(Value[A]) Value[R] {
	fn := newFunction(name, f, o, func(ctx context.Context, v []any) (R, error) { return f(ctx, as[A](v[0])) })
	return func(a Value[A]) Value[R] { return Value[R]{fn.apply(a.node())} }
}

// Func2 returns a lazy function that calls f. It takes at most one Options.
func Func2[A, B, R any](name string, f func(context.Context, A, B) (R, error), o ...Options) func(Value[A], Value[B]) Value[R] {
	fn := newFunction(name, f, o, func(ctx context.Context, v []any) (R, error) { return f(ctx, as[A](v[0]), as[B](v[1])) })
	return func(a Value[A], b Value[B]) Value[R] { return Value[R]{fn.apply(a.node(), b.node())} }
}

// Func3 returns a lazy function that calls f. It takes at most one Options.
func Func3[A, B, C, R any](name string, f func(context.Context, A, B, C) (R, error), o ...Options) func(Value[A], Value[B], Value[C]) Value[R] {
	fn := newFunction(name, f, o, func(ctx context.Context, v []any) (R, error) {
		return f(ctx, as[A](v[0]), as[B](v[1]), as[C](v[2]))
	})
	return func(a Value[A], b Value[B], c Value[C]) Value[R] {
		return Value[R]{fn.apply(a.node(), b.node(), c.node())}
	}
}

// Func4 returns a lazy function that calls f. It takes at most one Options.
func Func4[A, B, C, D, R any](name string, f func(context.Context, A, B, C, D) (R, error), o ...Options) func(Value[A], Value[B], Value[C], Value[D]) Value[R] {
	fn := newFunction(name, f, o, func(ctx context.Context, v []any) (R, error) {
		return f(ctx, as[A](v[0]), as[B](v[1]), as[C](v[2]), as[D](v[3]))
	})
	return func(a Value[A], b Value[B], c Value[C], d Value[D]) Value[R] {
		return Value[R]{fn.apply(a.node(), b.node(), c.node(), d.node())}
	}
}

// Func5 returns a lazy function that calls f. It takes at most one Options. A function
// of more arguments can take a struct, which [Struct] builds from values.
func Func5[A, B, C, D, E, R any](name string, f func(context.Context, A, B, C, D, E) (R, error), o ...Options) func(Value[A], Value[B], Value[C], Value[D], Value[E]) Value[R] {
	fn := newFunction(name, f, o, func(ctx context.Context, v []any) (R, error) {
		return f(ctx, as[A](v[0]), as[B](v[1]), as[C](v[2]), as[D](v[3]), as[E](v[4]))
	})
	return func(a Value[A], b Value[B], c Value[C], d Value[D], e Value[E]) Value[R] {
		return Value[R]{fn.apply(a.node(), b.node(), c.node(), d.node(), e.node())}
	}
}

// FuncN returns a lazy function that calls a variadic f. It takes at most one Options.
func FuncN[A, R any](name string, f func(context.Context, ...A) (R, error), o ...Options) func(...Value[A]) Value[R] {
	fn := newFunction(name, f, o, func(ctx context.Context, v []any) (R, error) {
		args := make([]A, len(v))
		for i := range v {
			args[i] = as[A](v[i])
		}
		return f(ctx, args...)
	})
	return func(args ...Value[A]) Value[R] { return Value[R]{fn.apply(nodes(args)...)} }
}

// Lift1 is [Func1] for a function without context and error, such as a method
// expression: Lift1("area", Circle.Area).
func Lift1[A, R any](name string, f func(A) R, o ...Options) func(Value[A]) Value[R] {
	fn := newFunction(name, f, o, func(_ context.Context, v []any) (R, error) { return f(as[A](v[0])), nil })
	return func(a Value[A]) Value[R] { return Value[R]{fn.apply(a.node())} }
}

// Lift2 is [Func2] for a function without context and error.
func Lift2[A, B, R any](name string, f func(A, B) R, o ...Options) func(Value[A], Value[B]) Value[R] {
	fn := newFunction(name, f, o, func(_ context.Context, v []any) (R, error) { return f(as[A](v[0]), as[B](v[1])), nil })
	return func(a Value[A], b Value[B]) Value[R] { return Value[R]{fn.apply(a.node(), b.node())} }
}

// Lift3 is [Func3] for a function without context and error.
func Lift3[A, B, C, R any](name string, f func(A, B, C) R, o ...Options) func(Value[A], Value[B], Value[C]) Value[R] {
	fn := newFunction(name, f, o, func(_ context.Context, v []any) (R, error) {
		return f(as[A](v[0]), as[B](v[1]), as[C](v[2])), nil
	})
	return func(a Value[A], b Value[B], c Value[C]) Value[R] {
		return Value[R]{fn.apply(a.node(), b.node(), c.node())}
	}
}

// as returns v as a T. It returns the zero T for nil, as interfaces require.
func as[T any](v any) T {
	t, _ := v.(T)
	return t
}

func nodes[T any](values []Value[T]) []*node {
	list := make([]*node, len(values))
	for i, v := range values {
		list[i] = v.node()
	}
	return list
}
