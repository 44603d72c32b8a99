package pages

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"net/http"
	"path"
)

//go:embed assets
var files embed.FS

// versions are the first characters of the SHA-256 of each file. They are part of its address, so that a browser can
// keep a file for good.
var versions = func() map[string]string {
	found := map[string]string{}
	entries, err := files.ReadDir("assets")
	if err != nil {
		panic(err) // it is embedded
	}
	for _, entry := range entries {
		content, err := files.ReadFile("assets/" + entry.Name())
		if err != nil {
			panic(err) // it is embedded
		}
		hash := sha256.Sum256(content)
		found[entry.Name()] = hex.EncodeToString(hash[:6])
	}
	return found
}()

// asset returns the address of a file.
func asset(name string) string { return "/assets/" + name + "?" + versions[name] }

func serveAsset(w http.ResponseWriter, r *http.Request) {
	name := path.Base(r.PathValue("name"))
	if versions[name] == "" {
		http.NotFound(w, r)
		return
	}
	if r.URL.RawQuery == versions[name] {
		w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
	}
	http.ServeFileFS(w, r, files, "assets/"+name)
}
