# Nix: nix-build -E '(import <nixpkgs> {}).callPackage ./resource-tracker.nix {}', with the source archive of the release beside this
# file. packaging/release fills in the version and the hash.
{ lib, stdenv, requireFile, meson, ninja, pkg-config, python3, scdoc, tomlplusplus, jansson, zlib, sqlite, ncurses, curl
, source ? requireFile {
    name = "resource-tracker-@VERSION@.tar.gz";
    sha256 = "@SOURCE_SHA256@";
    message = "nix-store --add-fixed sha256 resource-tracker-@VERSION@.tar.gz";
  }
}:

stdenv.mkDerivation {
  pname = "resource-tracker";
  version = "@VERSION@";
  src = source;
  nativeBuildInputs = [ meson ninja pkg-config python3 scdoc ];
  buildInputs = [ tomlplusplus jansson zlib sqlite ncurses curl ];
  postPatch = "patchShebangs tools";
  mesonFlags = [
    "-Dtests=disabled" "-Dtoml=enabled" "-Danalysis=enabled" "-Dlive=enabled" "-Dnetwork=enabled" "-Dslurm=disabled" "-Doffline=true"
    "-Dzsh_completions=zsh/site-functions"
  ];
  meta = {
    description = "Record the resources that a job really uses";
    license = lib.licenses.asl20;
    platforms = lib.platforms.linux;
    mainProgram = "resource-tracker";
  };
}
