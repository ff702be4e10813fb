package tamis.peers;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** What stands in a common file; common_file.py describes the format. */
public record Content(int lowest, int highest, int attributes, List<Predicate[]> subscriptions, List<int[]> events) {

    static Content read(Path file, int most) throws IOException {
        try (BufferedReader lines = Files.newBufferedReader(file)) {
            String[] head = lines.readLine().split("\t");
            if (head.length != 8 || !head[0].equals("tamis-peers") || !head[1].equals("1")) {
                throw new IOException(file + " is not a common file of peers, version 1");
            }
            int count = Integer.parseInt(head[6]);
            List<Predicate[]> subscriptions = new ArrayList<>();
            for (int at = 0; at < count; at++) {
                String line = lines.readLine();
                if (at < most) {
                    subscriptions.add(Arrays.stream(line.split("\t")).map(Predicate::read).toArray(Predicate[]::new));
                }
            }
            List<int[]> events = new ArrayList<>();
            for (int at = Integer.parseInt(head[7]); at > 0; at--) {
                events.add(Arrays.stream(lines.readLine().split(" ")).mapToInt(Integer::parseInt).toArray());
            }
            return new Content(
                Integer.parseInt(head[3]), Integer.parseInt(head[4]), Integer.parseInt(head[5]), subscriptions, events);
        }
    }
}
