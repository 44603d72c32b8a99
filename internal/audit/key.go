package audit

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// PublicSuffix is appended to the private key file's name to name the public key.
const PublicSuffix = ".pub"

// The types of the PEM blocks: PKCS #8 and SubjectPublicKeyInfo, as OpenSSL writes them.
const (
	privateBlock = "PRIVATE KEY"
	publicBlock  = "PUBLIC KEY"
)

// LoadOrCreateKey reads an Ed25519 key from a PEM file (PKCS #8). If the file is missing, it creates a key
// and writes it, readable by the owner only, and the public key to the path with [PublicSuffix].
func LoadOrCreateKey(path string) (ed25519.PrivateKey, error) {
	read := func() (ed25519.PrivateKey, error) {
		return readKey[ed25519.PrivateKey](path, privateBlock, x509.ParsePKCS8PrivateKey)
	}
	key, err := read()
	if errors.Is(err, fs.ErrNotExist) {
		if err := createKey(path); err != nil && !errors.Is(err, fs.ErrExist) {
			return nil, fmt.Errorf("checkpoint key: %w", err)
		}
		// Of several processes that start at once, one creates the key.
		key, err = read()
	}
	if err != nil {
		return nil, fmt.Errorf("checkpoint key: %w", err)
	}
	// The public key follows from the private key, so a lost file is written again.
	if _, err := os.Stat(path + PublicSuffix); errors.Is(err, fs.ErrNotExist) {
		der, err := x509.MarshalPKIXPublicKey(key.Public())
		if err == nil {
			err = os.WriteFile(path+PublicSuffix, pem.EncodeToMemory(&pem.Block{Type: publicBlock, Bytes: der}), 0o644)
		}
		if err != nil {
			return nil, fmt.Errorf("checkpoint key: %w", err)
		}
	}
	return key, nil
}

// createKey writes a new key. It returns [fs.ErrExist] if the file exists.
func createKey(path string) (err error) {
	_, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return err
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return err
	}
	file, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*.tmp") // mode 0600
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.Remove(file.Name())) }()
	_, err = file.Write(pem.EncodeToMemory(&pem.Block{Type: privateBlock, Bytes: der}))
	if err = errors.Join(err, file.Sync(), file.Close()); err != nil {
		return err
	}
	// A link never replaces a key, and the file is complete when it appears.
	if err := os.Link(file.Name(), path); err != nil {
		return err
	}
	return syncFolder(filepath.Dir(path))
}

// ReadPublicKey reads an Ed25519 public key from a PEM file (SubjectPublicKeyInfo).
func ReadPublicKey(path string) (ed25519.PublicKey, error) {
	key, err := readKey[ed25519.PublicKey](path, publicBlock, x509.ParsePKIXPublicKey)
	if err != nil {
		return nil, fmt.Errorf("checkpoint key: %w", err)
	}
	return key, nil
}

// readKey reads the PEM block of this kind from a file, and parses the key in it.
func readKey[K any](path, kind string, parse func([]byte) (any, error)) (key K, err error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return key, err
	}
	block, _ := pem.Decode(text)
	if block == nil || block.Type != kind {
		return key, fmt.Errorf("%s: no PEM block with a %s", path, kind)
	}
	parsed, err := parse(block.Bytes)
	if err != nil {
		return key, fmt.Errorf("%s: %w", path, err)
	}
	key, is := parsed.(K)
	if !is {
		return key, fmt.Errorf("%s: not an Ed25519 key", path)
	}
	return key, nil
}
