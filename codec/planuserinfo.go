package codec

import (
	"net/url"
	"reflect"
)

// planUserinfo encodes the user of a URL as an array: name, password, and whether there is
// one.
func planUserinfo(p *plan) {
	p.plain, p.key, p.least = true, true, 4
	p.write = func(w *cborWriter, v reflect.Value) error {
		u := v.Addr().Interface().(*url.Userinfo)
		password, has := u.Password()
		w.head(majorArray, 3)
		w.string(u.Username())
		w.string(password)
		w.bool(has)
		return nil
	}
	p.read = func(r *cborReader, v reflect.Value) {
		r.exactly(3)
		name, password, has := r.string(), r.string(), r.bool()
		u := url.User(name)
		if has {
			u = url.UserPassword(name, password)
		}
		v.Set(reflect.ValueOf(u).Elem())
	}
}
