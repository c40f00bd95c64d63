import java.util.ArrayList;
import java.util.List;

/** A heap that is filled, thrown away and filled again: java Allocate.java MIB SECONDS */
public class Allocate {
	public static void main(String[] arguments) throws Exception {
		int mib = Integer.parseInt(arguments[0]);
		long until = System.currentTimeMillis() + 1000L * Integer.parseInt(arguments[1]);
		int sum = 0;

		while (System.currentTimeMillis() < until) {
			List<byte[]> kept = new ArrayList<>();
			for (int i = 0; i < 4 * mib && System.currentTimeMillis() < until; i++) {
				/* Small beside a region of the collector, which gives large ones whole regions. */
				byte[] block = new byte[1 << 18];
				for (int at = 0; at < block.length; at += 4096)
					block[at] = 1;
				kept.add(block);
				sum += block[0];
				if (i % 4 == 3)
					Thread.sleep(2);
			}
		}
		System.exit(sum > 0 ? 0 : 1);
	}
}
