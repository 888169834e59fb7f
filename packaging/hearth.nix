# Nix expression for the archive in the same folder; "make dist" fills it in. To build it:
#   nix-build --expr 'with import <nixpkgs> {}; callPackage ./hearth.nix {}'
# Only the syntax is tested (nix-instantiate --parse), not the package names, a build, or a run on NixOS.
{ lib, stdenv, autoPatchelfHook, libsodium, sqlite, systemd, zlib }:

stdenv.mkDerivation {
  pname = "hearth";
  version = "@version@";
  src = ./hearth-@version@-linux-@machine@.tar.gz;
  nativeBuildInputs = [ autoPatchelfHook ];
  buildInputs = [ stdenv.cc.cc.lib libsodium sqlite systemd zlib ];
  dontStrip = true;
  # With DESTDIR, install.sh does not run the programs, which cannot run before they are patched.
  installPhase = ''
    DESTDIR=/ ./install.sh --prefix "$out"
  '';
  meta = {
    description = "Keeps you signed in to OAuth and OpenID Connect providers";
    license = lib.licenses.asl20;
    mainProgram = "hearthctl";
    platforms = [ "@machine@-linux" ];
    sourceProvenance = [ lib.sourceTypes.binaryNativeCode ];
  };
}
