package wallet

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"

	"filippo.io/age"
	"filippo.io/age/armor"

	"github.com/haggle-protocol/haggle/sdk/internal/fsync"
)

var (
	// ErrPassphrase: the file cannot be decrypted with this passphrase.
	ErrPassphrase = errors.New("haggle: wallet: wrong passphrase")
	// ErrWeakPassphrase: the passphrase is too short to be secure.
	ErrWeakPassphrase = errors.New("haggle: wallet: a passphrase has at least 8 characters")
	// ErrNotEncrypted: the file is damaged, or not encrypted with age.
	ErrNotEncrypted = errors.New("haggle: wallet: not an encrypted file")
	// ErrReadableByOthers: the file's permissions give access to others than the owner.
	ErrReadableByOthers = errors.New("haggle: wallet: others than its owner have access to the file")
)

const (
	// shortestPassphrase is in bytes.
	shortestPassphrase = 8
	// workFactor is the logarithm of scrypt's cost: about a second, and 256 MiB. A file with a factor above
	// mostWork is rejected.
	workFactor = 18
	mostWork   = 20
	// encryptedLimit is the maximum encrypted keypair length in bytes.
	encryptedLimit = 16 << 10
	// ownersOnly is the file mode for keys.
	ownersOnly fs.FileMode = 0o600
)

// CreateEncrypted writes a keypair to a new file, encrypted with a passphrase and readable by the owner
// alone. The format is age (filippo.io/age): "age --decrypt" returns a keypair file. It returns
// ErrWeakPassphrase, or an error that is fs.ErrExist if the file exists.
func CreateEncrypted(path, passphrase string, keypair *Keypair) error {
	return createEncrypted(path, passphrase, keypair, workFactor)
}

func createEncrypted(path, passphrase string, keypair *Keypair, workFactor int) error {
	if len(passphrase) < shortestPassphrase {
		return ErrWeakPassphrase
	}
	content, err := encrypt(passphrase, keypair, workFactor)
	if err != nil {
		return fmt.Errorf("haggle: wallet: encrypt: %w", err)
	}
	file, err := os.OpenFile(filepath.Clean(path), os.O_WRONLY|os.O_CREATE|os.O_EXCL, ownersOnly)
	if err != nil {
		return fmt.Errorf("haggle: wallet: %w", err)
	}
	_, err = file.Write(content)
	if err := errors.Join(err, file.Sync(), file.Close()); err != nil {
		return fmt.Errorf("haggle: wallet: %w", errors.Join(err, os.Remove(path)))
	}
	if err := fsync.SyncFolder(path); err != nil {
		return fmt.Errorf("haggle: wallet: %w", err)
	}
	return nil
}

func encrypt(passphrase string, keypair *Keypair, workFactor int) ([]byte, error) {
	recipient, err := age.NewScryptRecipient(passphrase)
	if err != nil {
		return nil, err
	}
	recipient.SetWorkFactor(workFactor)
	plain, err := keypair.json()
	if err != nil {
		return nil, err
	}
	var content bytes.Buffer
	armored := armor.NewWriter(&content)
	encrypted, err := age.Encrypt(armored, recipient)
	if err != nil {
		return nil, err
	}
	if _, err := encrypted.Write(plain); err != nil {
		return nil, err
	}
	if err := errors.Join(encrypted.Close(), armored.Close()); err != nil {
		return nil, err
	}
	return content.Bytes(), nil
}

// OpenEncrypted reads a file written by CreateEncrypted or by age with a passphrase. It takes about a second.
// It returns ErrPassphrase, ErrNotEncrypted or ErrReadableByOthers.
func OpenEncrypted(path, passphrase string) (*Keypair, error) {
	content, err := readOwners(path)
	if err != nil {
		return nil, err
	}
	identity, err := age.NewScryptIdentity(passphrase)
	if err != nil {
		return nil, fmt.Errorf("%w: %s", ErrPassphrase, path)
	}
	identity.SetMaxWorkFactor(mostWork)
	encrypted, err := withoutArmor(content)
	if err != nil {
		return nil, fmt.Errorf("%w: %s", err, path)
	}
	decrypted, err := age.Decrypt(bytes.NewReader(encrypted), identity)
	var noMatch *age.NoIdentityMatchError
	if errors.As(err, &noMatch) {
		return nil, fmt.Errorf("%w: %s", ErrPassphrase, path)
	}
	if err != nil {
		return nil, fmt.Errorf("haggle: wallet: %s: %w", path, err)
	}
	plain, err := io.ReadAll(io.LimitReader(decrypted, encryptedLimit))
	if err != nil {
		return nil, fmt.Errorf("haggle: wallet: %s: %w", path, err)
	}
	keypair, err := ParseKeypair(plain)
	if err != nil {
		return nil, fmt.Errorf("%w: %s", err, path)
	}
	return keypair, nil
}

// ErrEncrypted: the file is encrypted with a passphrase. OpenEncrypted reads it.
var ErrEncrypted = errors.New("the file is encrypted")

// isEncrypted reports whether the file content is in an age format.
func isEncrypted(content []byte) bool {
	content = bytes.TrimSpace(content)
	return bytes.HasPrefix(content, []byte(armor.Header)) || bytes.HasPrefix(content, []byte(ageHeader))
}

// ageHeader begins encrypted files.
const ageHeader = "age-encryption.org/"

// withoutArmor returns an encrypted file's content as bytes. It rejects any unencrypted content, because age
// would quote the beginning, which in a keypair file is the key.
func withoutArmor(content []byte) ([]byte, error) {
	if bytes.HasPrefix(bytes.TrimSpace(content), []byte(armor.Header)) {
		var err error
		if content, err = io.ReadAll(armor.NewReader(bytes.NewReader(content))); err != nil {
			return nil, ErrNotEncrypted
		}
	}
	if !bytes.HasPrefix(content, []byte(ageHeader)) {
		return nil, ErrNotEncrypted
	}
	return content, nil
}

// readOwners reads a file accessible only to the owner.
func readOwners(path string) ([]byte, error) {
	file, err := os.Open(filepath.Clean(path))
	if err != nil {
		return nil, fmt.Errorf("haggle: wallet: %w", err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, fmt.Errorf("haggle: wallet: %w", err)
	}
	// On Windows these bits do not show the access lists.
	if runtime.GOOS != "windows" && info.Mode().Perm()&^ownersOnly != 0 {
		return nil, fmt.Errorf("%w: %s has mode %04o, and should have %04o", ErrReadableByOthers, path, info.Mode().Perm(), ownersOnly)
	}
	content, err := io.ReadAll(io.LimitReader(file, encryptedLimit+1))
	if err == nil && len(content) > encryptedLimit {
		err = fmt.Errorf("%s is longer than %d bytes", path, encryptedLimit)
	}
	if err != nil {
		return nil, fmt.Errorf("haggle: wallet: %w", err)
	}
	return content, nil
}
