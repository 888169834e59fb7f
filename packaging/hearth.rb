# Homebrew formula for the archive in the same folder; "make dist" fills it in. The programs use the system's libsodium,
# libsqlite3, libsystemd and zlib. Only the syntax is tested (ruby -c), not brew audit or an installation.
class Hearth < Formula
  desc "Keeps you signed in to OAuth and OpenID Connect providers"
  url "file://#{__dir__}/hearth-@version@-linux-@machine@.tar.gz"
  version "@version@"
  sha256 "@sha256@"
  license "Apache-2.0"
  depends_on :linux

  def install
    system "./install.sh", "--prefix", prefix
    # The next upgrade removes this version's folder, so the units must refer to a path that stays.
    inreplace Dir[lib/"systemd/user/*.service", doc/"*.service"], bin.to_s, opt_bin.to_s
  end

  def caveats
    <<~CAVEATS
      To start Hearth now and at each login, run:
        systemctl --user enable --now #{opt_lib}/systemd/user/hearthd.service #{opt_lib}/systemd/user/hearthd.socket
    CAVEATS
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/hearthd --version")
  end
end
