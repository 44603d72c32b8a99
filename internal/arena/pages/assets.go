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

// versions holds the first characters of each file's SHA-256. URLs contain them, so browsers can cache files
// permanently.
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

// asset returns a file's URL.
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
