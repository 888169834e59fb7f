# The Homebrew formula of the archive that lies beside it; "make dist" fills it in. The programs use the system's libraries:
# libsodium, libsqlite3, libsystemd and zlib. Checked with ruby -c. Not checked: brew audit, an installation.
class Hearth < Formula
  desc "Keeps you signed in to OAuth and OpenID Connect providers"
  url "file://#{__dir__}/hearth-@version@-linux-@machine@.tar.gz"
  version "@version@"
  sha256 "@sha256@"
  license "Apache-2.0"
  depends_on :linux

  def install
    system "./install.sh", "--prefix", prefix
    # The folder of this version goes with the next upgrade.
    inreplace Dir[lib/"systemd/user/*.service", doc/"*.service"], bin.to_s, opt_bin.to_s
  end

  def caveats
    <<~CAVEATS
      To have Hearth run from your next login on, and now:
        systemctl --user enable --now #{opt_lib}/systemd/user/hearthd.service #{opt_lib}/systemd/user/hearthd.socket
    CAVEATS
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/hearthd --version")
  end
end
