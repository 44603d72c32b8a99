package identity

import (
	"net/http"
	"strings"
)

// signed reports whether a request contains a signature.
func signed(r *http.Request) bool {
	return len(r.Header.Values("Signature")) > 0 || len(r.Header.Values("Signature-Input")) > 0
}

// Recheck checks the credentials of an accepted request again, during a long response. [Authenticator.Identify]
// must have accepted the request. It returns an [*Error] if the API key has expired, a key was revoked or replaced,
// the registered client was suspended, or the registry is unavailable. It does not check a signature's lifetime and
// nonce again, because they limit the start of a request.
func (a *Authenticator) Recheck(r *http.Request) error {
	err := a.recheck(r)
	if err != nil {
		a.log(r.Context(), err)
	}
	return err
}

func (a *Authenticator) recheck(r *http.Request) error {
	if signed(r) {
		s, err := selectSignature(r.Header)
		if err != nil {
			return err
		}
		registration, _, err := a.registration(r, s)
		if err != nil {
			return err
		}
		return registration.check()
	}
	if _, token, is := strings.Cut(r.Header.Get("Authorization"), " "); is {
		_, err := a.byKey(r.Context(), strings.TrimSpace(token))
		return err
	}
	return nil // anonymous
}
